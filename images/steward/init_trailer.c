/*
 * The trailer: exactly TRAILER_BYTES of ASCII, fields of fixed width, single spaces between them.
 *
 *     NUL  "RUNNER-TRAILER-1"  nonce: 64 hex  kind: E, S or N  code: 10 digits
 *     user us: 20  system us: 20  largest resident set of one process, bytes: 20
 *     high-water mark of the cgroup, bytes: 20, all nines when unknown  newline
 */

#define _GNU_SOURCE
#include "init.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

static int peak_file = -1;

void open_memory_peak(void)
{
    peak_file = open("/sys/fs/cgroup/memory.peak", O_RDONLY | O_CLOEXEC);
    if (peak_file < 0)
        peak_file = open("/sys/fs/cgroup/memory/memory.max_usage_in_bytes", O_RDONLY | O_CLOEXEC);
}

static void format_peak(char into[21])
{
    char text[32] = "", *end = text;
    uint64_t bytes = 0;
    if (peak_file >= 0 && pread(peak_file, text, sizeof text - 1, 0) > 0)
        bytes = strtoull(text, &end, 10);
    if (end == text)
        snprintf(into, 21, "99999999999999999999");
    else
        snprintf(into, 21, "%020" PRIu64, bytes);
}

static uint64_t microseconds(struct timeval time)
{
    return (uint64_t)time.tv_sec * 1000000 + (uint64_t)time.tv_usec;
}

void format_trailer(char *into, const unsigned char *nonce, const struct ending *ending)
{
    struct rusage used;
    char hex[2 * NONCE_BYTES + 1], peak[21];
    getrusage(RUSAGE_CHILDREN, &used);
    for (size_t i = 0; i < NONCE_BYTES; i++)
        snprintf(hex + 2 * i, 3, "%02x", nonce[i]);
    format_peak(peak);
    into[0] = '\0';
    snprintf(into + 1, TRAILER_BYTES,
             "RUNNER-TRAILER-1 %s %c %010d %020" PRIu64 " %020" PRIu64 " %020" PRIu64 " %s\n",
             hex, ending->kind, ending->code, microseconds(used.ru_utime), microseconds(used.ru_stime),
             (uint64_t)used.ru_maxrss * 1024, peak);
}
