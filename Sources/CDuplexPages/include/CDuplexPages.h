// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

// The web pages: the files of the folder `web`, compiled into the program.

#ifndef CDUPLEX_PAGES_H
#define CDUPLEX_PAGES_H

#include <stddef.h>

/// A file. What it points to is there as long as the program.
typedef struct {
    /// From the folder `web`, with slashes; ends in a zero.
    const char *path;
    const unsigned char *bytes;
    size_t count;
} cduplex_page_file;

/// The number of files.
size_t cduplex_pages_count(void);

/// The file at an index below `cduplex_pages_count()`.
cduplex_page_file cduplex_pages_file(size_t index);

#endif
