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

/// A kind of change that the inspector's page may make, each of which an app allows by name.
public enum InspectorChange: String, Sendable, Hashable, CaseIterable {
    /// Files are uploaded, renamed, moved and deleted, and folders made.
    case files
    /// SQL that writes.
    case sql
    /// Messages and pings are sent on connections of the app.
    case sending
    /// Connections are closed and reset.
    case killing
    /// Requests are made again, and recordings replayed against a server.
    case replaying
    /// Settings and values of the app are set.
    case values
    /// Commands of the app are run, and messages handed to it.
    case commands
}
