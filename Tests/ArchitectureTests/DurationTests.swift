// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

/// Each public declaration that takes a duration, or has one, is in a list below with the rule for it.
///
/// One that is new belongs into a list, and into the table of a test that sees the rule hold: `DurationRuleTests` of its
/// target.
@Suite("Durations have one rule")
struct DurationTests {
    /// Longer than zero; less is an error of the call, or of the start, connecting or binding that uses the option.
    private static let longer = names(
        """
        DuplexFoundation: Socket.readData
        DuplexInspector: InspectorCommands.add InspectorOptions.messages
        DuplexInspector: InspectorViews.add
        DuplexServer: DigestOptions.init
        DuplexServer: RouteBuilder.events RouteOption.throttleFailures RouteOption.closeTimeout
        DuplexServer: RouteOption.timeLimit WebServer.blockedLoopThreshold WebServer.closeTimeout WebServer.idleTimeout
        DuplexSharing: ResumableUploadOptions.lifetime WebDAVOptions.lockTime
        DuplexSockets: ChainedResolver.init
        DuplexSockets: ConnectOptions.attemptTimeout ConnectOptions.init ConnectOptions.lookupTimeout ConnectOptions.timeout
        DuplexDelegates: DelegatedSocket.readData DelegatedSocket.write DelegatedUDPSocket.send
        DuplexSockets: ResolverConfiguration.timeout Socket.connect Socket.peek
        DuplexSockets: Socket.read Socket.readLine Socket.write Socket.writeFile
        DuplexSockets: TLSOptions.handshakeTimeout
        DuplexSockets: TLSServerOptions.handshakeTimeout UDPSocket.receive UDPSocket.send UDPSocket.connect
        DuplexTesting: Faults.slow WebServer.test
        DuplexTopics: RedisOptions.responseTimeout RedisOptions.pingInterval
        DuplexTopics: RouteBuilder.events TopicClientOptions.requestTimeout TopicOptions.historyTimeout
        DuplexTopics: TopicOptions.init
        DuplexWebSockets: ReconnectOptions.attemptTimeout
        DuplexWebSockets: ReconnectingWebSocket.ping RequestingWebSocket.request WebSocket.ping
        DuplexWebSockets: WebSocketMetrics.interval WebSocketOptions.closeTimeout WebSocketOptions.connectTimeout
        DuplexWire: HTTPLimits.headTime
        DuplexWire: MessageLimits.messageTime ReconnectPolicy.timeLimit
        """
    )
    /// Zero has a meaning, which the documentation of the declaration names; less is an error as above.
    private static let orZero = names(
        """
        DuplexServer: CORSPolicy.init Drain.init FileOptions.maxAge
        DuplexServer: SecurityHeaders.transportSecurity
        DuplexSharing: FolderOptions.trashAge
        DuplexSockets: CachingResolver.maximumTimeToLive
        DuplexSockets: CachingResolver.staleTime ConnectOptions.attemptDelay
        DuplexSockets: SocketOptions.userTimeout
        DuplexTopics: TopicOptions.presenceGrace
        DuplexWire: ReconnectPolicy.delayLimit ReconnectPolicy.exponential ReconnectPolicy.restoreTime
        DuplexWire: ReconnectPolicy.restored
        """
    )
    /// Less than zero is taken as zero, as the documentation of the declaration says.
    private static let asZero = names(
        """
        DuplexFoundation: ServerSentEvent.init
        DuplexServer: Request.sleep EventStream.send RunningServer.stop
        DuplexSockets: Socket.TimeoutExtension
        DuplexTesting: TestClock.advance TestLoop.advance
        DuplexWire: ServerSentEvent.init
        DuplexWire: SetCookie.init
        """
    )
    /// Settings of the rules without I/O, whose callers check what they were given: what isn't longer than zero is over at once.
    private static let wire = names(
        """
        DuplexWire: WebSocketSession.init
        """
    )
    /// Results, what a peer or a clock has said, and arithmetic.
    private static let result = names(
        """
        DuplexBase: Instant.advanced Instant.duration
        DuplexServer: RequestOutcome.duration ServerConnection.age
        DuplexSockets: ConnectTimeline.nameLookup ConnectTimeline.proxy
        DuplexSockets: ConnectTimeline.roots StageEvent.duration
        DuplexSockets: ConnectTimeline.tls ConnectTimeline.total Resolution.init Resolution.timeToLive
        DuplexTesting: TestClock.advanced TestClock.duration TestClock.minimumResolution
        DuplexTesting: TestClock.sleep
        DuplexWebSockets: HandshakeTimeline.total HandshakeTimeline.upgrade WebSocket.roundTrips
        DuplexDelegates: WebSocketDelegate.webSocket
        DuplexWebSockets: WebSocketTimeline.tls WebSocketTimeline.upgrade
        DuplexWire: Latency.jitter Latency.last Latency.minimum Latency.percentile Latency.smoothed
        DuplexWire: ReconnectAttempt.timeout ReconnectFailure.retryAfter
        """
    )

    /// The names of a list, whose lines begin with the target.
    private static func names(_ list: String) -> [String] {
        list.split(separator: "\n").flatMap { line in
            let parts = line.split(separator: ": ")
            return parts[1].split(separator: " ").map { "\(parts[0]) \($0)" }
        }
    }

    /// The type and the name of each public declaration of a file in which a duration stands.
    ///
    /// Of types within one another it is the outermost; outside of all, the file.
    private static func declared(in file: SourceFile) -> [String] {
        guard file.code.contains("Duration") else { return [] }
        let types = file.code.matches(of: type)
        let ownName = file.path.split(separator: "/").last.map { String($0.dropLast(6)) } ?? ""
        return file.code.matches(of: #/\bpublic /#).compactMap { found in
            let declaration = head(of: file.code[found.range.upperBound...])
            // By Unicode's rules `Duration.zero` is one word.
            guard declaration.contains(#/\bDuration\b/#.wordBoundaryKind(.simple)),
                let match = declaration.firstMatch(of: #/\b(var|let|func|init|typealias)\b\s*(\w*)/#)
            else { return nil }
            let name = types.last { $0.range.lowerBound <= found.range.lowerBound }.map { String($0.1) } ?? ownName
            return "\(file.target) \(name).\(match.1 == "init" ? match.1 : match.2)"
        }
    }

    /// The beginning of a type or an extension that isn't within another one.
    private static var type: Regex<(Substring, Substring)> {
        #/^(?:[a-z@][\w()]* )*(?:struct|class|enum|actor|protocol|extension) (\w+)/#.anchorsMatchLineEndings()
    }

    /// What stands before the body, or on the line: a line may end within parentheses.
    private static func head(of rest: Substring) -> Substring {
        var depth = 0
        return rest.prefix { character in
            if "([".contains(character) { depth += 1 }
            if ")]".contains(character) { depth -= 1 }
            return depth > 0 || !"{\n".contains(character)
        }
    }

    @Test("Every public declaration with a duration is in one of the lists, and each of the lists' is there")
    func listsAreComplete() {
        let listed = Self.longer + Self.orZero + Self.asZero + Self.wire + Self.result
        #expect(Set(listed).count == listed.count, "one is in two lists")
        let found = Set(Repository.sources.flatMap(Self.declared))
        #expect(found.subtracting(listed).sorted() == [], "not in a list")
        #expect(Set(listed).subtracting(found).sorted() == [], "not there any more")
    }

    @Test("An option with a rule is checked by it: the declaration of its check has the same name")
    func optionsAreChecked() {
        let files = Repository.sources.filter { $0.code.contains("Duration") }
        let checks = files.flatMap { file in file.lines.filter { $0.contains("DurationSetting(\"") } }
        for file in files {
            for entry in Set(Self.declared(in: file)) {
                guard let name = entry.split(separator: ".").last,
                    ["\(name):", "\(name) ="].contains(where: { file.code.contains("public var \($0)") }),
                    Self.longer.contains(entry) || Self.orZero.contains(entry)
                else { continue }
                let own = checks.filter { $0.contains("\(name)\",") }
                let isZeroAllowed = Self.orZero.contains(entry)
                #expect(own.contains { $0.contains("allowsZero") == isZeroAllowed }, "\(entry)")
            }
        }
    }

    @Test(
        "The rule finds parameters on later lines, and neither what isn't public nor comments",
        arguments: [
            ("public func a(\n  b: Duration\n) {}", ["T A.a"]), ("public var a = Duration.zero", ["T A.a"]),
            ("public init(a: Duration? = nil) {}", ["T A.init"]), ("var a: Duration\npublic let b = 1", []),
            ("// public var a: Duration", []), ("public func a() { b(Duration.zero) }", []),
            (
                "extension B {\n    public var a: Duration\n}\npublic struct C {\n    public var d: Duration\n}",
                ["T B.a", "T C.d"]
            ),
        ]
    )
    func finds(text: String, names: [String]) {
        #expect(Self.declared(in: SourceFile(path: "Sources/T/A.swift", text: text)) == names)
    }
}
