/* What the parts of the init share; init.c says what it is and how it is built. */

#ifndef RUNNER_INIT_H
#define RUNNER_INIT_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum { NONCE_BYTES = 32, TRAILER_BYTES = 201 };

/* What came over stdin: who we are to the controller, and what the workload is to find in its environment. */
struct release {
    unsigned char nonce[NONCE_BYTES];
    char **environment;
};

struct ending {
    char kind;            /* 'E'xited, 'S'ignaled, 'N'ot started */
    int code;             /* exit code, signal number, errno */
};

/* init.c: the end without a trailer, before anything untrusted ran. */
_Noreturn void refuse(const char *why);

/*
 * init.c: waits until something happened, at most limit_ms (-1: as long as it takes). Does not return once the
 * lifetime is over or, after the release, the leash has ended. Returns whether stdin (before the release) or the
 * descriptor output (-1: none) is ready.
 */
bool wait_for_news(int limit_ms, int output);

/* init_release.c: reads the release from stdin; refuses anything else. */
void read_release(struct release *into);

/* init_start.c: makes the next process number a fixed one, unless it is past that already. */
void burn_process_numbers(void);

/* init_start.c: starts the main process. Returns 0, or the errno that kept it from starting. */
int start_main(const char *cwd, char **argv, struct release *release, pid_t *started);

/* init_trailer.c: opens the cgroup's memory figures while nothing untrusted runs; fills TRAILER_BYTES + 1. */
void open_memory_figures(void);
void format_trailer(char *into, const unsigned char *nonce, const struct ending *ending);

#endif
