// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

#ifndef CDUPLEX_OPENSSL_H
#define CDUPLEX_OPENSSL_H

#include <openssl/sha.h>

#endif
