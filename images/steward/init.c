/*
 * The init of every workload: PID 1 inside the sandbox, trusted, between the controller and untrusted code.
 *
 *     /.runner/init --lifetime SECONDS --cwd DIR -- ARGV...
 *
 * It waits on stdin for a nonce and the workload's environment, runs ARGV, and tells the controller how the
 * main process ended by a fixed-length trailer, authenticated by the nonce, as the very end of stderr. A hostile
 * workload can deny that trailer; it must never be able to forge one. What sees to it:
 *
 *   - Nothing untrusted runs before the nonce came, and nothing untrusted is alive when it is written out: the
 *     workload may hold the read end of the stderr pipe (/proc/self/fd/2), so the nonce is shown to nobody but us.
 *   - The process is not dumpable: /proc/1/{mem,environ,fd} and ptrace, process_vm_*, pidfd_getfd are closed to
 *     the workload, which has our uid. The seccomp profile lets prlimit64 act on the caller only.
 *   - All signals are blocked and read from a signalfd. From inside, the kernel itself drops KILL and STOP for
 *     PID 1 (gVisor's does not: there a run can end its sandbox or freeze it, at the price of having no verdict). Of the rest, only those that kill(2) sent from outside (SI_USER, pid 0) are passed on. An exhausted
 *     signal queue can make an inside signal look like that; all it gains is what kill(main) would do anyway.
 *   - stdin is a leash: its end ends everything, and a timer of our own does too, should it be held open.
 *
 * Stdin, in this order: the 8 bytes RUNINIT1; 32 bytes nonce; 4 bytes big-endian length of what follows, at most
 * 1 MiB; entries NAME=VALUE, each ended by a NUL, names distinct. Whatever comes later is ignored.
 *
 * Exit codes: that of the main process, 128+N when signal N ended it, 127 when it could not be started; without a
 * trailer 70 (never released, nothing ran), 71 (the leash ended), 72 (the lifetime is over).
 *
 * Build: gcc -static -Os -s -Wall -Wextra -Werror -ffile-prefix-map="$PWD"=. -Wl,--build-id=none -o init init*.c
 */

#define _GNU_SOURCE
#include "init.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { EXIT_NEVER_RELEASED = 70, EXIT_LEASH = 71, EXIT_LIFETIME = 72, EXIT_NOT_STARTED = 127, SIGNAL_BASE = 128 };
enum { KERNEL_SIGNAL_BYTES = 8 };
enum { HIGHEST_FD = 1 << 20, MAX_LIFETIME = 1000000000, DRAIN_PAUSE_MS = 10, REAP_BATCH = 256 };

static struct {
    int64_t ends_ms;      /* on the monotonic clock */
    int signals;          /* signalfd */
    pid_t main;           /* 0 before the start and after the end */
    bool released;
} self;

/* That PID 1 exits is enough to end the others; the kill makes it immediate. */
static _Noreturn void end_all(int code)
{
    if (self.released)
        kill(-1, SIGKILL);
    _exit(code);
}

_Noreturn void refuse(const char *why)
{
    dprintf(STDERR_FILENO, "runner-init: %s; nothing was run\n", why);
    _exit(EXIT_NEVER_RELEASED);
}

static int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Signals from outside go to the main process; before the release TERM and its like end us. */
static void handle_signals(void)
{
    struct signalfd_siginfo info[16];
    ssize_t got = read(self.signals, info, sizeof info);
    for (ssize_t i = 0; i < got / (ssize_t)sizeof info[0]; i++) {
        int number = (int)info[i].ssi_signo;
        if (number == SIGCHLD || info[i].ssi_code != SI_USER || info[i].ssi_pid != 0)
            continue;
        if (self.main > 0)
            kill(self.main, number);
        else if (!self.released && (number == SIGTERM || number == SIGINT || number == SIGQUIT || number == SIGHUP))
            _exit(EXIT_NEVER_RELEASED);
    }
}

/* After the release stdin carries nothing; only its end matters. */
static void check_leash(void)
{
    char ignored[4096];
    ssize_t got = read(STDIN_FILENO, ignored, sizeof ignored);
    if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR))
        end_all(EXIT_LEASH);
}

bool wait_for_news(int limit_ms, int output)
{
    struct pollfd fds[] = {
        { .fd = self.signals, .events = POLLIN },
        { .fd = STDIN_FILENO, .events = POLLIN },
        { .fd = output, .events = POLLOUT },
    };
    int64_t left = self.ends_ms - now_ms();
    if (left <= 0)
        end_all(EXIT_LIFETIME);
    if (limit_ms >= 0 && limit_ms < left)
        left = limit_ms;
    if (poll(fds, 3, left > INT_MAX ? INT_MAX : (int)left) <= 0)
        return false;
    if (fds[0].revents != 0)
        handle_signals();
    if (fds[1].revents != 0 && self.released)
        check_leash();
    return fds[2].revents != 0 || (fds[1].revents != 0 && !self.released);
}

/* Reaps whatever has ended; notes how the main process did. Returns false once there are no children left. */
static bool reap(struct ending *ending)
{
    for (unsigned count = 1;; count++) {
        int status;
        pid_t child = waitpid(-1, &status, WNOHANG | __WALL);
        if (child < 0 && errno == EINTR)
            continue;
        if (child <= 0)
            return child == 0;
        if (child == self.main) {
            self.main = 0;
            ending->kind = WIFEXITED(status) ? 'E' : 'S';
            ending->code = WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status);
        }
        if (count % REAP_BATCH == 0)     /* who orphans children faster than we reap must not keep us from this */
            wait_for_news(0, -1);
    }
}

/* Kills until nobody is left: only then may the nonce be written where others could have read it. */
static void drain(struct ending *ending)
{
    for (;;) {
        kill(-1, SIGKILL);
        if (!reap(ending))
            return;
        wait_for_news(DRAIN_PAUSE_MS, -1);
    }
}

/* Nobody else is alive, so the shared description is ours to make non-blocking: leash and lifetime hold here too. */
static void write_trailer(const unsigned char *nonce, const struct ending *ending)
{
    char trailer[TRAILER_BYTES + 1];
    size_t done = 0;
    format_trailer(trailer, nonce, ending);
    fcntl(STDERR_FILENO, F_SETFL, fcntl(STDERR_FILENO, F_GETFL) | O_NONBLOCK);
    while (done < TRAILER_BYTES) {
        ssize_t wrote = write(STDERR_FILENO, trailer + done, TRAILER_BYTES - done);
        if (wrote >= 0)
            done += (size_t)wrote;
        else if (errno == EAGAIN)
            wait_for_news(-1, STDERR_FILENO);
        else if (errno != EINTR)
            return;
    }
}

/* gVisor has no close_range, and a million calls of close take it twenty seconds. */
static void close_others(void)
{
    struct rlimit files;
    int highest = HIGHEST_FD;
    if (close_range(3, ~0U, 0) == 0)
        return;
    if (getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_max < HIGHEST_FD)
        highest = (int)files.rlim_max;
    for (int fd = 3; fd < highest; fd++)
        close(fd);
}

/* Shields us, and lets go of whatever else we were started with. */
static void take_cover(void)
{
    sigset_t all;
    memset(&all, 0xff, sizeof all);     /* the C library's own two included, and sigprocmask leaves those out */
    syscall(SYS_rt_sigprocmask, SIG_BLOCK, &all, NULL, KERNEL_SIGNAL_BYTES);
    prctl(PR_SET_DUMPABLE, 0);
    if (getpid() != 1)     /* or kill(-1) would hit the world */
        refuse("must be PID 1");
    if (fcntl(0, F_GETFD) < 0 || fcntl(1, F_GETFD) < 0 || fcntl(2, F_GETFD) < 0)
        refuse("stdin, stdout and stderr must be open");
    close_others();
    self.signals = signalfd(-1, &all, SFD_CLOEXEC | SFD_NONBLOCK);
    if (self.signals < 0)
        refuse("no signalfd");
}

static void read_arguments(int argc, char **argv)
{
    char *end;
    if (argc < 7 || strcmp(argv[1], "--lifetime") || strcmp(argv[3], "--cwd") || strcmp(argv[5], "--"))
        refuse("usage: init --lifetime SECONDS --cwd DIR -- ARGV...");
    long seconds = strtol(argv[2], &end, 10);
    if (end == argv[2] || *end != '\0' || seconds < 1 || seconds > MAX_LIFETIME)
        refuse("--lifetime must be a whole number of seconds");
    self.ends_ms = now_ms() + (int64_t)seconds * 1000;
}

int main(int argc, char **argv)
{
    struct release release;
    struct ending ending = { .kind = 'N', .code = 0 };
    take_cover();
    read_arguments(argc, argv);
    open_memory_figures();
    burn_process_numbers();
    read_release(&release);
    self.released = true;
    ending.code = start_main(argv[4], argv + 6, &release, &self.main);
    while (self.main > 0) {
        wait_for_news(-1, -1);
        reap(&ending);
    }
    drain(&ending);
    write_trailer(release.nonce, &ending);
    if (ending.kind == 'N')
        return EXIT_NOT_STARTED;
    return ending.kind == 'E' ? ending.code : SIGNAL_BASE + ending.code;
}
