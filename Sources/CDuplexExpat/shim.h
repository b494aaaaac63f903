// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

// expat, and as functions what it has as macros, which Swift can't see.

#ifndef CDUPLEX_EXPAT_H
#define CDUPLEX_EXPAT_H

#include <expat.h>

/// Ends the call to XML_Parse that is running, for good.
static inline void cduplex_expat_stop(XML_Parser parser) {
    (void)XML_StopParser(parser, XML_FALSE);
}

#endif
