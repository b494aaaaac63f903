// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

// libqrencode.

#ifndef CDUPLEX_QRCODE_H
#define CDUPLEX_QRCODE_H

#include <qrencode.h>

#endif
