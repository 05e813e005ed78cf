/* Kills the process at its k-th call that changes a file: before the call, or in the middle of it.
   Loaded by LD_PRELOAD; nothing is counted before killing_arm(). */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

static long left = -1;
static int halfway;
static int spared = -1;

/* k from 1; half: do the call, or half of a write, first. What goes to the descriptor `spare` does not count. */
void killing_arm(long k, int half, int spare) { left = k; halfway = half; spared = spare; }

/* How many calls may still come; so with a k that is too large, how many came. */
long killing_left(void) { return left; }

static int now(int fd) { return left > 0 && fd > 2 && fd != spared && --left == 0; }
static void die(void) { kill(getpid(), SIGKILL); for (;;) pause(); }

#define REAL(name) ((__typeof__(&name)) dlsym(RTLD_NEXT, #name))
#define AROUND(name, fd, half, ...) \
    do { \
        if (now(fd)) { \
            if (halfway) half; \
            die(); \
        } \
        return REAL(name)(__VA_ARGS__); \
    } while (0)
#define WHOLE(name, fd, ...) AROUND(name, fd, (void) !REAL(name)(__VA_ARGS__), __VA_ARGS__)

ssize_t write(int fd, const void *data, size_t size)
{ AROUND(write, fd, (void) !REAL(write)(fd, data, size / 2), fd, data, size); }
ssize_t pwrite(int fd, const void *data, size_t size, off_t at)
{ AROUND(pwrite, fd, (void) !REAL(pwrite)(fd, data, size / 2, at), fd, data, size, at); }
ssize_t pwrite64(int fd, const void *data, size_t size, off64_t at)
{ AROUND(pwrite64, fd, (void) !REAL(pwrite64)(fd, data, size / 2, at), fd, data, size, at); }
int ftruncate(int fd, off_t size) { WHOLE(ftruncate, fd, fd, size); }
int ftruncate64(int fd, off64_t size) { WHOLE(ftruncate64, fd, fd, size); }
int fsync(int fd) { WHOLE(fsync, fd, fd); }
int fdatasync(int fd) { WHOLE(fdatasync, fd, fd); }
int fchmod(int fd, mode_t mode) { WHOLE(fchmod, fd, fd, mode); }
int mkdir(const char *path, mode_t mode) { WHOLE(mkdir, 9, path, mode); }
int mkdirat(int fd, const char *path, mode_t mode) { WHOLE(mkdirat, 9, fd, path, mode); }
int rename(const char *from, const char *to) { WHOLE(rename, 9, from, to); }
int renameat(int a, const char *from, int b, const char *to) { WHOLE(renameat, 9, a, from, b, to); }
int unlink(const char *path) { WHOLE(unlink, 9, path); }
int unlinkat(int fd, const char *path, int flags) { WHOLE(unlinkat, 9, fd, path, flags); }
int rmdir(const char *path) { WHOLE(rmdir, 9, path); }

#define OPENED(name, ...) \
    do { \
        mode_t mode = 0; \
        if (flags & O_CREAT) { \
            va_list rest; \
            va_start(rest, flags); \
            mode = va_arg(rest, mode_t); \
            va_end(rest); \
            WHOLE(name, 9, __VA_ARGS__, mode); \
        } \
        return REAL(name)(__VA_ARGS__, mode); \
    } while (0)

int open(const char *path, int flags, ...) { OPENED(open, path, flags); }
int open64(const char *path, int flags, ...) { OPENED(open64, path, flags); }
int openat(int fd, const char *path, int flags, ...) { OPENED(openat, fd, path, flags); }
int openat64(int fd, const char *path, int flags, ...) { OPENED(openat64, fd, path, flags); }
