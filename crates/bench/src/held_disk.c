/* A disk that is slow to make writes durable, for a program that knows nothing of it: preloaded, it holds back fdatasync and fsync of
 * the files whose path contains HELD_DISK_PATH. HELD_DISK_MS: how long each takes. HELD_DISK_WHILE: a file; as long as it exists, none
 * of them returns. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static void rest(long ms) {
    struct timespec left = {ms / 1000, (ms % 1000) * 1000000L};
    while (nanosleep(&left, &left) != 0) {
    }
}

static int is_held(int file) {
    const char *part = getenv("HELD_DISK_PATH");
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (part == NULL || length < 0)
        return 0;
    path[length] = 0;
    return strstr(path, part) != NULL;
}

static int held(const char *name, int file) {
    int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, name);
    int outcome = real(file);
    if (is_held(file)) {
        const char *ms = getenv("HELD_DISK_MS"), *while_there = getenv("HELD_DISK_WHILE");
        if (ms != NULL)
            rest(atol(ms));
        while (while_there != NULL && access(while_there, F_OK) == 0)
            rest(10);
    }
    return outcome;
}

int fdatasync(int file) { return held("fdatasync", file); }

int fsync(int file) { return held("fsync", file); }
