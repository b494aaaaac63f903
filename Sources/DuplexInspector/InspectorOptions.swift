// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Foundation

/// What an inspector shows, to whom, and what may be changed by it; see `inspector` of `WebServer`.
public struct InspectorOptions: Sendable {
    /// Who may look.
    ///
    /// Default: whoever has the token.
    public var access = InspectorAccess.token
    /// Whether other machines than this one are answered.
    ///
    /// Default: they aren't.
    public var answersOtherMachines = false
    /// The hosts that requests may be for, beside this machine's names; `*.example.com` allows all that ends so.
    ///
    /// A page of anybody's could otherwise reach the inspector by a name of its own that leads here (DNS rebinding). Behind a
    /// proxy that passes the host on it is that host. Default: none; with ``answersOtherMachines`` and none named, all.
    public var hosts: [String] = []
    /// What may be changed by the page.
    ///
    /// Default: nothing.
    public var allows: Set<InspectorChange> = []
    /// What the process writes and logs.
    ///
    /// Default: none, and the page has no console.
    public var console: InspectorConsole?

    /// Is told the address of the page, with its token, once the server takes connections; for each listener one.
    ///
    /// Hazard: whoever reads it can look. Default: it is written to standard error.
    public var tellsAddress: @Sendable (String) -> Void = { address in
        FileHandle.standardError.write(Data("The inspector is at \(address)\n".utf8))
    }
    /// How many of the last requests are kept while somebody looks, and how much of their bodies.
    ///
    /// Default: as in ``RequestHistoryOptions``.
    public var requests = RequestHistoryOptions()
    /// Names of fields, query items and members of JSON whose values nobody is shown, beside `Authorization`,
    /// `Proxy-Authorization`, `Cookie` and `Set-Cookie`; in any case of letters.
    ///
    /// Default: none.
    public var secrets: Set<String> = []

    /// Makes options that show what needs no naming, to whoever has the token, and change nothing.
    public init() {}
}
