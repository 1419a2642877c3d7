/* Loaded before the C library (LD_PRELOAD): counts the calls by which SQLite changes files whose name
 * contains QDEPTH_FAULT_FILE, and lets the n-th go wrong.
 *
 * QDEPTH_FAULT: count | once:N:ERRNO | forever:N:ERRNO | short:N | kill:N | power:N
 * kill ends the process before call N; power does so too, and takes back what was written and not
 * synced, as if the machine had lost its power. The number of calls is written to QDEPTH_FAULT_COUNT
 * at the end. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

enum mode { NONE, COUNT, ONCE, FOREVER, SHORT, KILL, POWER };

/* What a write or a truncation replaced, until the file is synced. */
struct change {
    struct change *before;
    dev_t device;
    ino_t inode;
    off_t offset, length_before;
    size_t size;
    char *bytes;
    int fd;
};

static enum mode mode = NONE;
static long chosen, calls;
static int error_number = EIO;
static const char *watched;
static struct change *changes;

static ssize_t (*real_write)(int, const void *, size_t);
static ssize_t (*real_pwrite)(int, const void *, size_t, off_t);
static int (*real_ftruncate)(int, off_t);
static int (*real_fsync)(int);
static int (*real_fdatasync)(int);
static int (*real_unlink)(const char *);

__attribute__((constructor)) static void begin(void)
{
    const char *text = getenv("QDEPTH_FAULT");
    watched = getenv("QDEPTH_FAULT_FILE");
    real_write = dlsym(RTLD_NEXT, "write");
    real_pwrite = dlsym(RTLD_NEXT, "pwrite64");
    real_ftruncate = dlsym(RTLD_NEXT, "ftruncate64");
    real_fsync = dlsym(RTLD_NEXT, "fsync");
    real_fdatasync = dlsym(RTLD_NEXT, "fdatasync");
    real_unlink = dlsym(RTLD_NEXT, "unlink");
    if (!text || !watched)
        return;
    if (!strcmp(text, "count"))
        mode = COUNT;
    else if (sscanf(text, "once:%ld:%d", &chosen, &error_number) == 2)
        mode = ONCE;
    else if (sscanf(text, "forever:%ld:%d", &chosen, &error_number) == 2)
        mode = FOREVER;
    else if (sscanf(text, "short:%ld", &chosen) == 1)
        mode = SHORT;
    else if (sscanf(text, "kill:%ld", &chosen) == 1)
        mode = KILL;
    else if (sscanf(text, "power:%ld", &chosen) == 1)
        mode = POWER;
}

__attribute__((destructor)) static void end(void)
{
    const char *name = getenv("QDEPTH_FAULT_COUNT");
    FILE *file = mode != NONE && name ? fopen(name, "w") : NULL;
    if (file) {
        fprintf(file, "%ld\n", calls);
        fclose(file);
    }
}

static int is_watched(int fd)
{
    char link[64], name[4096];
    ssize_t length;
    if (mode == NONE)
        return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    length = readlink(link, name, sizeof name - 1);
    if (length < 0)
        return 0;
    name[length] = 0;
    return strstr(name, watched) != NULL;
}

static void lose_power(void)
{
    for (struct change *c = changes; c; c = c->before) {
        if (c->size)
            real_pwrite(c->fd, c->bytes, c->size, c->offset);
        real_ftruncate(c->fd, c->length_before);
    }
}

/* Whether this call goes wrong, with errno set. */
static int goes_wrong(void)
{
    calls++;
    if ((mode == KILL || mode == POWER) && calls == chosen) {
        if (mode == POWER)
            lose_power();
        _exit(137);
    }
    if ((mode == ONCE && calls == chosen) || (mode == FOREVER && calls >= chosen)) {
        errno = error_number;
        return 1;
    }
    return 0;
}

/* Keeps what stands from offset on before it is replaced. */
static void remember(int fd, off_t offset, size_t size)
{
    struct stat stat;
    struct change *c;
    ssize_t there;
    if (mode != POWER || fstat(fd, &stat))
        return;
    c = calloc(1, sizeof *c);
    *c = (struct change){ changes, stat.st_dev, stat.st_ino, offset, stat.st_size, 0, NULL, dup(fd) };
    if (size) {
        int reader;
        char link[64];
        snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
        reader = open(link, O_RDONLY);
        c->bytes = malloc(size);
        there = pread(reader, c->bytes, size, offset);
        c->size = there > 0 ? (size_t)there : 0;
        close(reader);
    }
    changes = c;
}

/* What was written to this file will be there after a loss of power. */
static void forget(int fd)
{
    struct stat stat;
    struct change **at = &changes;
    if (mode != POWER || fstat(fd, &stat))
        return;
    while (*at) {
        struct change *c = *at;
        if (c->device == stat.st_dev && c->inode == stat.st_ino) {
            *at = c->before;
            close(c->fd);
            free(c->bytes);
            free(c);
        } else {
            at = &c->before;
        }
    }
}

static size_t as_long_as(size_t size)
{
    return mode == SHORT && calls == chosen && size > 1 ? size / 2 : size;
}

ssize_t write(int fd, const void *bytes, size_t size)
{
    if (is_watched(fd)) {
        if (goes_wrong())
            return -1;
        remember(fd, lseek(fd, 0, SEEK_CUR), size);
        size = as_long_as(size);
    }
    return real_write(fd, bytes, size);
}

ssize_t pwrite64(int fd, const void *bytes, size_t size, off_t offset)
{
    if (is_watched(fd)) {
        if (goes_wrong())
            return -1;
        remember(fd, offset, size);
        size = as_long_as(size);
    }
    return real_pwrite(fd, bytes, size, offset);
}

ssize_t pwrite(int fd, const void *bytes, size_t size, off_t offset)
{
    return pwrite64(fd, bytes, size, offset);
}

int ftruncate64(int fd, off_t length)
{
    struct stat stat;
    if (is_watched(fd)) {
        if (goes_wrong())
            return -1;
        if (!fstat(fd, &stat) && stat.st_size > length)
            remember(fd, length, (size_t)(stat.st_size - length));
        else
            remember(fd, length, 0);
    }
    return real_ftruncate(fd, length);
}

int ftruncate(int fd, off_t length)
{
    return ftruncate64(fd, length);
}

int fsync(int fd)
{
    if (is_watched(fd)) {
        if (goes_wrong())
            return -1;
        forget(fd);
    }
    return real_fsync(fd);
}

int fdatasync(int fd)
{
    if (is_watched(fd)) {
        if (goes_wrong())
            return -1;
        forget(fd);
    }
    return real_fdatasync(fd);
}

int unlink(const char *name)
{
    if (mode != NONE && strstr(name, watched) && goes_wrong())
        return -1;
    return real_unlink(name);
}
