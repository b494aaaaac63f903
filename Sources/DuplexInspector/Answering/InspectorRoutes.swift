// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexFoundation
import DuplexServer
import DuplexWire
import Logging
import Synchronization

/// A part of the inspector: what it answers, and what of it is watched.
protocol InspectorRoom: Sendable {
    /// The page that shows it: its module is `NAME.js`.
    var page: String { get }

    /// Adds what it answers.
    func add(to routes: inout InspectorRoutes)
}

/// Adds what rooms answer below the inspector's path: all behind its guard, and changes only where the app allows them.
struct InspectorRoutes {
    /// What may be changed.
    let allowed: Set<InspectorChange>
    /// Gets a line for each change.
    let logger: Logger
    /// What large answers are taken from.
    let budget = AnswerBudget()
    private(set) var topics = LiveTopics()
    private(set) var group: RouteGroup

    init(_ group: RouteGroup, allowed: Set<InspectorChange>, logger: Logger) {
        self.group = group
        self.allowed = allowed
        self.logger = logger
    }

    /// Answers a question, which changes nothing.
    ///
    /// - Parameters:
    ///   - path: below the inspector's, such as `/console/history`.
    ///   - size: how much memory the answer may take, where that is much; it is refused where so much isn't left.
    ///   - handler: answers; an error that it throws is sent as a problem.
    mutating func get(
        _ path: String,
        holding size: ByteCount? = nil,
        _ handler: @escaping @Sendable (Request) async throws -> Response
    ) {
        let budget = budget
        group.get(path) { request async throws in
            try await Self.beside {
                guard let size else { return try await handler(request) }
                return try await budget.holding(size) { try await handler(request) }
            }
        }
    }

    /// Changes something by a POST: 403 where the app doesn't allow that kind, and a line in the log where it does.
    ///
    /// - Parameters:
    ///   - kind: what kind of change it is.
    ///   - path: below the inspector's.
    ///   - size: how long a body may be. Default: 1 MiB.
    ///   - handler: does it, and says what it has done.
    mutating func change(
        _ kind: InspectorChange,
        _ path: String,
        upTo size: ByteCount = .mebibytes(1),
        _ handler: @escaping @Sendable (Request, ChangeNote) async throws -> Response
    ) {
        let (allowed, logger) = (allowed, logger)
        group.post(path, .bodySize(size)) { request in
            try Self.check(kind, allowed)
            let note = ChangeNote(kind, by: request)
            do {
                let response = try await Self.beside { try await handler(request, note) }
                note.tell(logger, outcome: "\(response.status.code)")
                return response
            } catch {
                note.tell(logger, outcome: "\((error as? Problem)?.detail ?? String(describing: error))")
                throw error
            }
        }
    }

    /// Adds what others answer, such as a folder's page; what of it changes something is their own to guard by ``check(_:_:)``.
    mutating func mount(_ build: (inout RouteGroup) -> Void) { build(&group) }

    /// Lets viewers watch something.
    ///
    /// - Parameters:
    ///   - name: what viewers call it.
    ///   - make: makes it out of a viewer's parameters; throws `LiveRefusal` for what can't be watched.
    mutating func watch(_ name: String, _ make: @escaping LiveTopics.Making) { topics.add(name, make) }

    /// Does something off the event loops: what somebody looks at may be long, and no connection waits for it.
    static func beside<Value: Sendable>(_ body: @Sendable () async throws -> Value) async throws -> Value {
        try await withTaskExecutorPreference(globalConcurrentExecutor) { try await body() }
    }

    /// Throws where the app doesn't allow a kind of change.
    static func check(_ kind: InspectorChange, _ allowed: Set<InspectorChange>) throws(Problem) {
        if allowed.contains(kind) { return }
        throw Problem(.forbidden, "The app doesn't allow that: its options would name “\(kind.rawValue)”.")
    }
}

/// What rooms answer.
enum InspectorAnswer {
    /// A value in JSON, which nobody keeps.
    ///
    /// - Parameter value: the value.
    /// - Returns: the response.
    /// - Throws: `EncodingError`.
    static func json(_ value: some Encodable) throws -> Response { json(text: try CompactJSON.text(of: value)) }

    /// The same of JSON that was written where it may take a while.
    static func json(text: String) -> Response {
        Response(type: .json, headers: [.cacheControl: "no-store"], body: .text(text + "\n"))
    }

    /// A file to be kept.
    static func attachment(_ type: MediaType, named name: String, _ bytes: [UInt8]) -> Response {
        var response = Response(type: type, headers: [.cacheControl: "no-store"], body: bytes)
        response.attach(as: name)
        return response
    }
}

/// A change that somebody makes by the page, on its way into the log.
final class ChangeNote: Sendable {
    private let kind: InspectorChange
    private let from: String
    private let user: String?
    private let what = Mutex("")

    init(_ kind: InspectorChange, by request: Request) {
        self.kind = kind
        from = request.remoteAddress.map { "\($0)" } ?? "here"
        user = request.user
    }

    /// What is changed, in a few words; the log shows the first 1,000 characters.
    ///
    /// It may hold texts of others: what can't be seen in them is shown as signs, so that nobody steers a terminal.
    func says(_ text: String) { what.withLock { $0 = Self.visible(text.prefix(1_000)) } }

    private static func visible(_ text: Substring) -> String {
        var result = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .unassigned:
                result.append(contentsOf: "⟨U+\(String(scalar.value, radix: 16, uppercase: true))⟩".unicodeScalars)
            default: result.append(scalar)
            }
        }
        return String(result)
    }

    func tell(_ logger: Logger, outcome: String) {
        var metadata: Logger.Metadata = [
            "change": "\(kind.rawValue)", "what": "\(what.withLock { $0 })", "from": "\(from)",
            "outcome": "\(Self.visible(outcome.prefix(1_000)))",
        ]
        if let user { metadata["user"] = "\(user)" }
        logger.notice("the inspector has changed something", metadata: metadata)
    }
}
