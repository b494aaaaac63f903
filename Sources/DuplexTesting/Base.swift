// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

// What is tested, and the generator of repeatable numbers, are part of the interface here: whoever imports this module has
// them.
@_exported public import DuplexBase
@_exported public import DuplexServer
