// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

// Files: what the C library's module for Swift leaves out, or has only with _GNU_SOURCE.

#ifndef CDUPLEX_FILES_H
#define CDUPLEX_FILES_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/// What happens to a file or folder that has the name already.
enum cduplex_clash {
    /// It is replaced, as rename(2) does.
    CDUPLEX_CLASH_REPLACE,
    /// Nothing is done: EEXIST.
    CDUPLEX_CLASH_REFUSE,
    /// It gets the other name.
    CDUPLEX_CLASH_EXCHANGE,
};

/// openat(2), whose last argument Swift can't give.
int cduplex_open_at(int folder, const char *name, int flags, mode_t permissions);

/// renameat2(2).
int cduplex_rename(int from, const char *name, int to, const char *new_name, enum cduplex_clash clash);

/// copy_file_range(2) from and to the places of the descriptors: 0 at the end. Gives ENOTSUP where there is no such call.
ssize_t cduplex_copy_range(int from, int to, size_t count);

/// An extended attribute's value: its length, which may be more than there was room for (then ERANGE).
///
/// All three give ENOTSUP where the file system has none, and ENODATA where the file hasn't.
ssize_t cduplex_get_attribute(int file, const char *name, void *value, size_t room);
int cduplex_set_attribute(int file, const char *name, const void *value, size_t count);
int cduplex_remove_attribute(int file, const char *name);

/// The names of what is at a path and no link, each with a zero behind it: their length, which may be more than there was room
/// for (then ERANGE). The file isn't opened: closing it would take the locks of this process away.
ssize_t cduplex_list_attributes_at(const char *path, char *names, size_t room);
/// The value of one of them, as of `cduplex_get_attribute`; with no room its length alone.
ssize_t cduplex_get_attribute_at(const char *path, const char *name, void *value, size_t room);

/// The bytes of the file system that the file is on, and those of them that this user may still fill.
int cduplex_get_space(int file, uint64_t *total, uint64_t *free);

#endif
