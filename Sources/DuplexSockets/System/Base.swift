// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

// Instants, times and the like are part of the interface here: whoever imports this module has them.
@_exported public import DuplexBase
