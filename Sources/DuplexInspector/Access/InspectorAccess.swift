// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// Who may look at an inspector's page.
public enum InspectorAccess: Sendable, Hashable {
    /// Everybody with the token: 128 random bits in the address that is announced at the start, for which a browser
    /// gets a cookie at its first visit. Programs send it as `Authorization: Bearer …`.
    case token
    /// Everybody with a token of the app's own, as ``token``.
    ///
    /// Hazard: it is as good as its randomness; one of fewer than 16 bytes is a fault of the program.
    case ownToken(String)
    /// Users that the app's own authentication accepts, such as `basicAuth` in front of the inspector's routes; a
    /// request without a user is answered with 401.
    case users
}
