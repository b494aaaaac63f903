// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// The id of a request, by which its traces in several places are found: `request[RequestID.self]`.
public enum RequestID: RequestKey {
    /// Visible ASCII, at most 128 bytes.
    public typealias Value = String
}
