/*
 * The trailer: exactly TRAILER_BYTES of ASCII, fields of fixed width, single spaces between them.
 *
 *     NUL  "RUNNER-TRAILER-1"  nonce: 64 hex  kind: E, S or N  code: 10 digits
 *     user us: 20  system us: 20  largest resident set of one process, bytes: 20
 *     high-water mark of the cgroup, bytes: 20, all nines when unknown
 *     processes that the kernel killed in it for want of memory: 20, all nines when unknown  newline
 *
 * The last one is for engines that do not tell (cgroup v1: memory.oom_control, v2: memory.events).
 */

#define _GNU_SOURCE
#include "init.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { FIGURE_BYTES = 20 };

static int peak_file = -1, kills_file = -1;

static int open_either(const char *newer, const char *older)
{
    int file = open(newer, O_RDONLY | O_CLOEXEC);
    return file >= 0 ? file : open(older, O_RDONLY | O_CLOEXEC);
}

void open_memory_figures(void)
{
    peak_file = open_either("/sys/fs/cgroup/memory.peak", "/sys/fs/cgroup/memory/memory.max_usage_in_bytes");
    kills_file = open_either("/sys/fs/cgroup/memory.events", "/sys/fs/cgroup/memory/memory.oom_control");
}

/* The number behind the first line start that is followed by a word, if any: the newline is part of it. */
static void format_figure(char into[FIGURE_BYTES + 1], int file, const char *word)
{
    char text[512] = "\n", *end = NULL;
    const char *at = NULL;
    uint64_t figure = 0;
    if (file >= 0 && pread(file, text + 1, sizeof text - 2, 0) > 0)
        at = strstr(text, word);
    if (at != NULL)
        figure = strtoull(at + strlen(word), &end, 10);
    if (at == NULL || end == at + strlen(word))
        snprintf(into, FIGURE_BYTES + 1, "99999999999999999999");
    else
        snprintf(into, FIGURE_BYTES + 1, "%020" PRIu64, figure);
}

static uint64_t microseconds(struct timeval time)
{
    return (uint64_t)time.tv_sec * 1000000 + (uint64_t)time.tv_usec;
}

void format_trailer(char *into, const unsigned char *nonce, const struct ending *ending)
{
    struct rusage used;
    char hex[2 * NONCE_BYTES + 1], peak[FIGURE_BYTES + 1], kills[FIGURE_BYTES + 1];
    getrusage(RUSAGE_CHILDREN, &used);
    for (size_t i = 0; i < NONCE_BYTES; i++)
        snprintf(hex + 2 * i, 3, "%02x", nonce[i]);
    format_figure(peak, peak_file, "\n");
    format_figure(kills, kills_file, "\noom_kill ");
    into[0] = '\0';
    snprintf(into + 1, TRAILER_BYTES,
             "RUNNER-TRAILER-1 %s %c %010d %020" PRIu64 " %020" PRIu64 " %020" PRIu64 " %s %s\n",
             hex, ending->kind, ending->code, microseconds(used.ru_utime), microseconds(used.ru_stime),
             (uint64_t)used.ru_maxrss * 1024, peak, kills);
}
