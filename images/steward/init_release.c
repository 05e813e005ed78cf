/* The release: nonce and environment, over stdin, so that neither is in a container's configuration. */

#define _GNU_SOURCE
#include "init.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LENGTH_BYTES = 4, MAX_ENVIRONMENT = 1 << 20 };

static const char MAGIC[8] = { 'R', 'U', 'N', 'I', 'N', 'I', 'T', '1' };

extern char **environ;

static void read_exactly(void *into, size_t count)
{
    char *at = into;
    while (count > 0) {
        if (!wait_for_news(-1, -1))
            continue;
        ssize_t got = read(STDIN_FILENO, at, count);
        if (got < 0 && (errno == EAGAIN || errno == EINTR))
            continue;
        if (got <= 0)
            refuse("stdin ended before the release");
        at += got;
        count -= (size_t)got;
    }
}

static bool same_name(const char *entry, const char *other)
{
    size_t length = (size_t)(strchrnul(entry, '=') - entry);
    return strncmp(entry, other, length) == 0 && other[length] == '=';
}

/* The container's own environment, overlaid by the entries of the block. */
static char **merge_environment(char *block, size_t length)
{
    size_t own = 0, fresh = 0, count = 0;
    while (environ[own] != NULL)
        own++;
    for (size_t i = 0; i < length; i++)
        fresh += block[i] == '\0';
    char **merged = calloc(own + fresh + 1, sizeof *merged);
    if (merged == NULL)
        refuse("no memory for the environment");
    for (char *entry = block; entry < block + length; entry += strlen(entry) + 1) {
        if (entry[0] == '=' || strchr(entry, '=') == NULL)
            refuse("an environment entry is not NAME=VALUE");
        merged[count++] = entry;
    }
    for (size_t i = 0; i < own; i++) {
        size_t other = 0;
        while (other < fresh && !same_name(merged[other], environ[i]))
            other++;
        if (other == fresh)
            merged[count++] = environ[i];
    }
    return merged;
}

void read_release(struct release *into)
{
    char magic[sizeof MAGIC];
    unsigned char size[LENGTH_BYTES];
    read_exactly(magic, sizeof magic);
    if (memcmp(magic, MAGIC, sizeof MAGIC) != 0)
        refuse("stdin does not speak our protocol");
    read_exactly(into->nonce, sizeof into->nonce);
    read_exactly(size, sizeof size);
    size_t length = (size_t)size[0] << 24 | (size_t)size[1] << 16 | (size_t)size[2] << 8 | size[3];
    if (length > MAX_ENVIRONMENT)
        refuse("the environment is larger than 1 MiB");
    char *block = malloc(length + 1);
    if (block == NULL)
        refuse("no memory for the environment");
    read_exactly(block, length);
    if (length > 0 && block[length - 1] != '\0')
        refuse("the environment does not end with a NUL");
    into->environment = merge_environment(block, length);
}
