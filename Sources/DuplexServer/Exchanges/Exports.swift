// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

// The interface here names types of these modules, and their members: whoever imports this module has them.

@_exported public import DuplexWebSockets
