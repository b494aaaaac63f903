// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// The name of the user that a request has been authenticated as: `request[AuthenticatedUser.self]`.
public enum AuthenticatedUser: RequestKey {
    /// The name.
    public typealias Value = String
}
