// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

// The generator of repeatable numbers is part of the interface here: whoever imports this module has it.
@_exported public import DuplexBase
