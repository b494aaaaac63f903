// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

// What the public declarations here name comes with them, so that `import DuplexWebSockets` is enough. Dispatch, metrics and
// tracing don't: few use them with a WebSocket, and the name `Span` of tracing would hide that of the language.

@_exported public import DuplexSockets
@_exported public import DuplexWire
@_exported public import HTTPTypes
@_exported public import Logging
