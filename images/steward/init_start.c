/* From the trusted fork to the untrusted program. */

#define _GNU_SOURCE
#include "init.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { EXIT_UNSEEN = 127, MAIN_PID = 32 };

static const char DEFAULT_PATH[] = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

extern char **environ;

/*
 * The engine's own threads took a varying handful of process numbers before us. Burn some, so that the main process
 * always has the same: programs print it, and a failure must not differ by it from run to run.
 */
void burn_process_numbers(void)
{
    for (pid_t last = 0; last < MAIN_PID - 1;) {
        last = fork();
        if (last == 0)
            _exit(0);
        if (last < 0)
            return;
        while (waitpid(last, NULL, 0) < 0 && errno == EINTR)
            continue;
    }
}

/*
 * As execvp, by PATH of the workload's environment, but never through a shell when the format is unknown: that is
 * reported as what it is. Returns the errno of the failure.
 */
static int run_program(char **argv)
{
    const char *path = getenv("PATH");
    char candidate[PATH_MAX];
    int reason = ENOENT;
    if (argv[0][0] == '\0')
        return ENOENT;
    if (strchr(argv[0], '/') != NULL) {
        execve(argv[0], argv, environ);
        return errno;
    }
    for (const char *at = path != NULL ? path : DEFAULT_PATH; at != NULL; at = *at != '\0' ? at + 1 : NULL) {
        const char *end = strchrnul(at, ':');
        int directory = (int)(end - at);
        int length = snprintf(candidate, sizeof candidate, "%.*s%s%s", directory, at, directory ? "/" : "", argv[0]);
        if (length > 0 && length < (int)sizeof candidate) {
            execve(candidate, argv, environ);
            if (errno == EACCES)
                reason = EACCES;
            else if (errno != ENOENT && errno != ENOTDIR)
                return errno;
        }
        at = end;
    }
    return reason;
}

/* The child between fork and exec: trusted still, and not dumpable. Returns the errno of what failed. */
static int become_workload(const char *cwd, char **argv, struct release *release)
{
    sigset_t none;
    explicit_bzero(release->nonce, sizeof release->nonce);
    int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (nothing < 0 || dup2(nothing, STDIN_FILENO) < 0 || setsid() < 0 || chdir(cwd) < 0)
        return errno;
    for (int number = 1; number < NSIG; number++)
        signal(number, SIG_DFL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    environ = release->environment;
    return run_program(argv);
}

/* A successful exec closes the pipe silently; a failure is told through it, and so is no program's own exit 127. */
static int read_failure(int pipe)
{
    int failure = 0;
    ssize_t got;
    do
        got = read(pipe, &failure, sizeof failure);
    while (got < 0 && errno == EINTR);
    return got == (ssize_t)sizeof failure ? failure : 0;
}

int start_main(const char *cwd, char **argv, struct release *release, pid_t *started)
{
    int report[2];
    if (pipe2(report, O_CLOEXEC) < 0)
        return errno;
    pid_t child = fork();
    int failure = errno;
    if (child == 0) {
        failure = become_workload(cwd, argv, release);
        (void)!write(report[1], &failure, sizeof failure);
        _exit(EXIT_UNSEEN);
    }
    close(report[1]);
    if (child > 0)
        failure = read_failure(report[0]);
    close(report[0]);
    if (failure == 0)
        *started = child;
    return failure;
}
