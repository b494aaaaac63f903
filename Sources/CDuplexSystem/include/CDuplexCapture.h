// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

// Standard output and standard error led through pipes, and passed on to where they went before. In C because what is
// left in a pipe has to be passed on while the process ends, also in a handler of a signal, where little may be called.

#ifndef CDUPLEX_CAPTURE_H
#define CDUPLEX_CAPTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/// Whether standard output and standard error are the same file, so that they must share a pipe to keep their order.
bool cduplex_capture_is_shared(void);

/// Leads a descriptor, and another one unless that is -1, into a pipe, and has stdio write to it line by line.
///
/// Returns a number for the functions below; -1 with `errno` where it can't: EBUSY when four are captured.
int cduplex_capture_begin(int stream, int other);

/// Prepares the calling thread for reading: signals that ask the process to end are handled by others.
void cduplex_capture_prepare_thread(void);

/// Waits for bytes, passes them on, and gives them: how many there are; 0 at the end, which comes once nobody can write any
/// more; -1 where none came in time; -2 where the process ends. Behind bytes the caller calls `cduplex_capture_done`.
ssize_t cduplex_capture_take(int capture, void *bytes, size_t size, int milliseconds);

/// What was taken is dealt with.
void cduplex_capture_done(int capture);

/// Leads the descriptors to where they went before. Who has inherited the pipe still writes to it.
void cduplex_capture_end(int capture);

/// Whether everything that was written is passed on and dealt with.
bool cduplex_capture_is_drained(int capture);

/// Gives the pipe back, behind its end.
void cduplex_capture_close(int capture);

#endif
