// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

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
