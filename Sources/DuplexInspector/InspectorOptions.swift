// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
public import DuplexSharing
import Foundation

/// What an inspector shows, who may look, and what it may change; see `inspector` of `WebServer`.
public struct InspectorOptions: Sendable {
    /// Who may look.
    ///
    /// Default: everybody with the token.
    public var access = InspectorAccess.token
    /// Whether other machines than this one are answered.
    ///
    /// Default: they aren't.
    public var answersOtherMachines = false
    /// The hosts that requests may be for, beside this machine's names; `*.example.com` allows all that ends so.
    ///
    /// A page of anybody's could otherwise reach the inspector by a name of its own that leads here (DNS rebinding).
    /// After a proxy that passes the host on it is that host. Default: none; with ``answersOtherMachines`` and none
    /// named, all.
    public var hosts: [String] = []
    /// What may be changed by the page.
    ///
    /// Default: nothing.
    public var allowedChanges: Set<InspectorChange> = []
    /// What the process writes and logs.
    ///
    /// Default: none, and the page has no console.
    public var console: InspectorConsole?

    /// Called with the address of the page, with its token, once the server accepts connections; once for each
    /// listener.
    ///
    /// Hazard: whoever reads it can look. Default: it is written to standard error.
    public var onStart: @Sendable (String) -> Void = { address in
        FileHandle.standardError.write(Data("The inspector is at \(address)\n".utf8))
    }
    /// How many of the last requests are kept while somebody looks, and how much of their bodies.
    ///
    /// Default: as in ``RequestHistoryOptions``.
    public var requests = RequestHistoryOptions()
    /// Names of fields, query items and members of JSON whose values nobody is shown, beside `Authorization`,
    /// `Proxy-Authorization`, `Cookie` and `Set-Cookie`; in any case of letters.
    ///
    /// Where any are named, nothing is shown of what went compressed over the wire, and of which the server has no
    /// plain copy: bodies with a `Content-Encoding`, and messages of WebSockets that are read or written in pieces.
    ///
    /// Default: none.
    public var secrets: Set<String> = []

    /// The folders that are shown, by the names that the page has for them.
    ///
    /// Each is shown as far as its `FolderOptions` let visitors look, and changed by the page only where ``allowedChanges`` has
    /// ``InspectorChange/files``, too. SQLite databases in them are shown as ``databases`` are.
    ///
    /// Databases and what SQLite has beside them aren't downloaded, copied or moved as files: closing such a file takes
    /// away the locks that SQLite has on it in this process (<https://sqlite.org/howtocorrupt.html> section 2.2). The
    /// page of databases has a copy to download.
    ///
    /// Hazard: elsewhere, as by WebDAV, an app does well not to offer databases that it has open. Default: none.
    public var folders: [String: SharedFolder] = [:]
    /// The SQLite databases that are shown, by the names that the page has for them: the paths of their files.
    ///
    /// They are only read, unless ``allowedChanges`` has ``InspectorChange/sql``. An app that goes on with a database in WAL
    /// mode isn't held up; in another mode its changes wait for what is being read.
    ///
    /// Hazard: an app that has a SQLite library of its own beside the system's has to name copies of the databases that
    /// it has open: two libraries in one process take each other's locks away (<https://sqlite.org/howtocorrupt.html>
    /// section 2.2.1). Default: none.
    public var databases: [String: String] = [:]
    /// How long SQL that somebody writes in the page may take.
    ///
    /// Values have 4 MiB at most. Functions that may take the square of a length, such as `instr`, `replace` and
    /// `trim`, run on values of up to 32 KiB, and 4 KiB while the app's own changes wait.
    ///
    /// Default: 10 s.
    package var sqlTime: Duration = .seconds(10)
    /// How many rows the page shows of what such SQL gives.
    ///
    /// Default: 1,000, of 4 MiB together.
    package var sqlRows = 1_000
    /// The values that are shown: settings, the environment, launch arguments, and those that the app names.
    ///
    /// Default: all but the last, secrets masked.
    public var values = InspectorValues()
    /// The commands that can be run where ``allowedChanges`` has ``InspectorChange/commands``.
    ///
    /// Default: none.
    public var commands = InspectorCommands()
    /// The trees of views that are drawn.
    ///
    /// Default: none.
    public var views = InspectorViews()
    /// Recordings that the page shows from the beginning, beside what is imported by it.
    ///
    /// Kept are the last eight of these, of 64 MiB together, whatever is imported. Default: none.
    public var recordings: [InspectorRecording] = []

    /// The durations that are set here, and those of commands, messages and views.
    var durations: [DurationSetting] {
        let limits = commands.all.map { ($0.name, $0.limit) } + views.all.map { ($0.name, $0.limit) }
        return [DurationSetting("sqlTime", sqlTime), DurationSetting("values.timeLimit", values.timeLimit)]
            + limits.map { DurationSetting("limit of “\($0)”", $1) }
            + (commands.messages.map { [DurationSetting("limit of messages", $0.limit)] } ?? [])
    }

    /// Makes options that show what needs no naming, to whoever has the token, and change nothing.
    public init() {}

    /// Takes the messages that somebody writes on the page, and answers them; the last closure counts.
    ///
    /// - Parameters:
    ///   - limit: how long an answer may take. Default: 20 s.
    ///   - answer: gets text or JSON, up to 64 KiB; an error that it throws is shown.
    public mutating func messages(
        within limit: Duration = .seconds(20),
        _ answer: @escaping @Sendable (String) async throws -> InspectorCommandResponse
    ) {
        commands.takeMessages(within: limit, answer)
    }
}
