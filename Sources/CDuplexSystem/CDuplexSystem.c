// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

#define _GNU_SOURCE
#include "CDuplexSystem.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#if defined(__linux__)
#include <crypt.h>
#endif

#if defined(__GLIBC__)
#include <malloc.h>
#elif defined(__APPLE__)
#include <malloc/malloc.h>
#endif

void cduplex_return_memory(void) {
#if defined(__GLIBC__)
    malloc_trim(0);
#elif defined(__APPLE__)
    malloc_zone_pressure_relief(NULL, 0);
#endif
}

int cduplex_crypt(const char *password, const char *setting, char *hash, size_t size) {
#if defined(__linux__)
    struct crypt_data *memory = calloc(1, sizeof *memory);
    if (!memory) return ENOMEM;
    errno = 0;
    const char *made = crypt_r(password, setting, memory);
    int code = 0;
    if (!made || made[0] == '*') {
        code = errno ? errno : EINVAL;
    } else if (strlen(made) >= size) {
        code = EINVAL;
    } else {
        strcpy(hash, made);
    }
    // What it has worked with tells the password.
    explicit_bzero(memory, sizeof *memory);
    free(memory);
    return code;
#else
    (void)password, (void)setting, (void)hash, (void)size;
    return ENOSYS;
#endif
}

#if defined(__linux__)

#include <linux/openat2.h>
#include <sys/sendfile.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

const int CDUPLEX_O_PATH = O_PATH;

int cduplex_open_beneath(int folder, const char *path, int flags, bool only_cached) {
    struct open_how how = {
        .flags = (uint64_t)flags,
        .resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS | (only_cached ? RESOLVE_CACHED : 0),
    };
    return (int)syscall(SYS_openat2, folder, path, &how, sizeof how);
}

int cduplex_accept4(int descriptor, struct sockaddr *address, socklen_t *length, int flags) {
    return accept4(descriptor, address, length, flags);
}

ssize_t cduplex_sendfile(int socket, int file, off_t offset, size_t count) {
    // The signal is the thread's own: blocked meanwhile, and taken back if it came through this call.
    sigset_t broken_pipe, before, pending;
    sigemptyset(&broken_pipe);
    sigaddset(&broken_pipe, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &broken_pipe, &before);
    // One that is there already is somebody else's; there can be one only where the signal was blocked before.
    int was_blocked = sigismember(&before, SIGPIPE), was_pending = 0;
    if (was_blocked) {
        sigpending(&pending);
        was_pending = sigismember(&pending, SIGPIPE);
    }
    ssize_t result = sendfile(socket, file, &offset, count);
    int code = errno;
    // It may also have come behind a part that was taken, and then the result says nothing of it.
    int is_short = result < 0 ? code == EPIPE : (size_t)result < count;
    if (is_short && !was_pending) {
        struct timespec now = {0, 0};
        while (sigtimedwait(&broken_pipe, NULL, &now) < 0 && errno == EINTR) {
        }
    }
    if (!was_blocked) pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = code;
    return result;
}

ssize_t cduplex_read_cached(int file, void *bytes, size_t count, off_t offset) {
    struct iovec room = {.iov_base = bytes, .iov_len = count};
    return preadv2(file, &room, 1, offset, RWF_NOWAIT);
}

int cduplex_is_in_cache(int file, uint64_t offset, uint64_t count) {
    // As <linux/mman.h> of kernels from 6.5 on has them.
    struct {
        uint64_t offset, count;
    } range = {offset, count};
    struct {
        uint64_t cached, dirty, written, evicted, evicted_lately;
    } pages;
    if (count == 0) return 1;
    if (syscall(451, file, &range, &pages, 0) != 0) return -1;
    uint64_t size = (uint64_t)sysconf(_SC_PAGESIZE);
    return pages.cached >= (offset + count - 1) / size - offset / size + 1;
}

void cduplex_name_thread(const char *name) { pthread_setname_np(pthread_self(), name); }

#endif
