// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

#define _GNU_SOURCE
#include "CDuplexSystem.h"

#include <pthread.h>

#if defined(__linux__)

int cduplex_accept4(int descriptor, struct sockaddr *address, socklen_t *length, int flags) {
    return accept4(descriptor, address, length, flags);
}

void cduplex_name_thread(const char *name) { pthread_setname_np(pthread_self(), name); }

#endif
