// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

#define _GNU_SOURCE
#include "CDuplexFiles.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

int cduplex_open_at(int folder, const char *name, int flags, mode_t permissions) {
    return openat(folder, name, flags, permissions);
}

#if defined(__linux__)

int cduplex_rename(int from, const char *name, int to, const char *new_name, enum cduplex_clash clash) {
    unsigned flags = 0;
    if (clash == CDUPLEX_CLASH_REFUSE) flags = RENAME_NOREPLACE;
    if (clash == CDUPLEX_CLASH_EXCHANGE) flags = RENAME_EXCHANGE;
    return renameat2(from, name, to, new_name, flags);
}

ssize_t cduplex_copy_range(int from, int to, size_t count) { return copy_file_range(from, NULL, to, NULL, count, 0); }

ssize_t cduplex_get_attribute(int file, const char *name, void *value, size_t room) {
    return fgetxattr(file, name, value, room);
}

int cduplex_set_attribute(int file, const char *name, const void *value, size_t count) {
    return fsetxattr(file, name, value, count, 0);
}

int cduplex_remove_attribute(int file, const char *name) { return fremovexattr(file, name); }

ssize_t cduplex_list_attributes_at(const char *path, char *names, size_t room) { return llistxattr(path, names, room); }

ssize_t cduplex_get_attribute_at(const char *path, const char *name, void *value, size_t room) {
    return lgetxattr(path, name, value, room);
}

#else

int cduplex_rename(int from, const char *name, int to, const char *new_name, enum cduplex_clash clash) {
    unsigned flags = 0;
    if (clash == CDUPLEX_CLASH_REFUSE) flags = RENAME_EXCL;
    if (clash == CDUPLEX_CLASH_EXCHANGE) flags = RENAME_SWAP;
    return renameatx_np(from, name, to, new_name, flags);
}

ssize_t cduplex_copy_range(int from, int to, size_t count) {
    (void)from, (void)to, (void)count;
    errno = ENOTSUP;
    return -1;
}

// It calls what isn't there ENOATTR.
static ssize_t named(ssize_t result) {
    if (result < 0 && errno == ENOATTR) errno = ENODATA;
    return result;
}

ssize_t cduplex_get_attribute(int file, const char *name, void *value, size_t room) {
    return named(fgetxattr(file, name, value, room, 0, 0));
}

int cduplex_set_attribute(int file, const char *name, const void *value, size_t count) {
    return fsetxattr(file, name, value, count, 0, 0);
}

int cduplex_remove_attribute(int file, const char *name) { return (int)named(fremovexattr(file, name, 0)); }

ssize_t cduplex_list_attributes_at(const char *path, char *names, size_t room) {
    return listxattr(path, names, room, XATTR_NOFOLLOW);
}

ssize_t cduplex_get_attribute_at(const char *path, const char *name, void *value, size_t room) {
    return named(getxattr(path, name, value, room, 0, XATTR_NOFOLLOW));
}

#endif

int cduplex_get_space(int file, uint64_t *total, uint64_t *free) {
    struct statvfs space;
    if (fstatvfs(file, &space) != 0) return -1;
    *total = (uint64_t)space.f_blocks * space.f_frsize;
    *free = (uint64_t)space.f_bavail * space.f_frsize;
    return 0;
}
