// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexTestProcesses
import DuplexTestTimes
import DuplexTesting
import DuplexWire
import Foundation
import Testing

@testable import DuplexTopics

@Suite("A connection to Redis", .timeLimit(minutes: 1))
struct RedisConnectionTests {
    // MARK: Connecting

    @Test("Over TCP and over a Unix socket: the database is chosen and the name set")
    func connects() async throws {
        try await TestRedis.run { redis in
            let loop = EventLoopGroup.shared.next()
            for text in [redis.url + "/3", "redis+unix://\(redis.socketPath)?db=3"] {
                let url = try RedisURL(text)
                let connection = try await RedisConnection.connect(to: url, options: RedisOptions(), on: loop)
                let information = try await connection.command("CLIENT", "INFO").text ?? ""
                #expect(information.contains(" name=duplex "))
                #expect(information.contains(" db=3 "))
                #expect(information.contains(" resp=3"))
                #expect(await connection.role == "master")
                await connection.close()
            }
        }
    }

    @Test("With TLS, a certificate of the server's own, and no connection without trusting it")
    func connectsSecurely() async throws {
        let identity = try TLSIdentity.selfSigned(for: ["127.0.0.1"])
        let configuration = [
            "port 0", "tls-port PORT", "tls-cert-file FOLDER/cert.pem", "tls-key-file FOLDER/key.pem",
            "tls-auth-clients no",
        ]
        let files = ["cert.pem": identity.certificatesPEM, "key.pem": identity.keyPEM]
        try await TestRedis.run(.server, configuration, files: files) { redis in
            let url = try RedisURL("rediss://127.0.0.1:\(redis.port)")
            let loop = EventLoopGroup.shared.next()
            var options = RedisOptions()
            options.connectOptions.tls.trust = .roots(identity.certificates)
            let connection = try await RedisConnection.connect(to: url, options: options, on: loop)
            let value = [UInt8](repeating: 7, count: 300_000)
            _ = try await connection.command("SET", "key", .bytes(value))
            #expect(try await connection.command("GET", "key") == .bulk(value))
            await connection.close()
            let error = await redisError {
                _ = try await RedisConnection.connect(to: url, options: RedisOptions(), on: loop)
            }
            #expect(error?.code == .cannotConnect)
        }
    }

    @Test("Users log in; who doesn't, or may not, is told so in the server's words, and no password is shown")
    func authenticates() async throws {
        let configuration = [
            "user default on >topsecret ~* &* +@all", "user reader on >hush ~app:* &app:* +get +subscribe +ping +hello",
        ]
        try await TestRedis.run(.server, configuration) { redis in
            let loop = EventLoopGroup.shared.next()
            func connect(_ credentials: String) async throws -> RedisConnection {
                let url = try RedisURL("redis://\(credentials)127.0.0.1:\(redis.port)")
                return try await RedisConnection.connect(to: url, options: RedisOptions(), on: loop)
            }
            let owner = try await connect(":topsecret@")
            #expect(try await owner.command("ACL", "WHOAMI") == .bulk(Array("default".utf8)))
            await owner.close()
            for credentials in ["reader:topsecret@", "nobody:topsecret@"] {
                let error = await redisError { _ = try await connect(credentials) }
                #expect(error?.kind == .wrongPassword)
                #expect(error?.message.contains("topsecret") == false)
            }
            let stranger = await redisError { _ = try await connect("") }
            #expect(stranger?.kind == .authenticationRequired)
            let reader = try await connect("reader:hush@")
            #expect(try await reader.command("GET", "app:1") == .null)
            let forbidden = await redisError { _ = try await reader.command("SET", "app:1", "x") }
            #expect(forbidden?.kind == .noPermission)
            #expect(forbidden?.reply?.text.contains("set") == true)
            await reader.close()
        }
    }

    @Test("Where nobody listens, the error says so")
    func findsNobody() async throws {
        let port = try ReservedPort()
        let url = try RedisURL("redis://:topsecret@127.0.0.1:\(port.address.port)")
        let error = await redisError {
            _ = try await RedisConnection.connect(to: url, options: RedisOptions(), on: EventLoopGroup.shared.next())
        }
        #expect(error?.code == .cannotConnect)
        #expect(error?.message.contains("topsecret") == false)
    }

    @Test(
        "A server that can't be used is refused, with the reason",
        arguments: [
            ("HTTP/1.1 400 Bad Request\r\n\r\n", .malformed, nil),
            (
                "-ERR unknown command `HELLO`, with args beginning with: `3`, `AUTH`, `me`, `topsecret`\r\n+PONG\r\n",
                .malformed, nil
            ),
            ("-NOPROTO unsupported protocol version\r\n+PONG\r\n", .malformed, nil),
            ("%1\r\n+role\r\n+master\r\n-LOADING Redis is loading the dataset in memory\r\n", .refused, .loading),
            ("%1\r\n+role\r\n+replica\r\n-MASTERDOWN Link with MASTER is down\r\n", .refused, .masterDown),
            ("%1\r\n+role\r\n+master\r\n+PONG\r\n:1\r\n", .malformed, nil),
        ] as [(String, RedisError.Code, RedisErrorReply.Kind?)]
    )
    func refusesServers(answers: String, code: RedisError.Code, kind: RedisErrorReply.Kind?) async throws {
        try await withFalseRedis(answering: answers) { url in
            let error = await redisError {
                let url = try RedisURL("redis://me:topsecret@\(url.description.dropFirst(8))")
                let loop = EventLoopGroup.shared.next()
                let connection = try await RedisConnection.connect(to: url, options: RedisOptions(), on: loop)
                // What is sent without having been asked for may come behind the greeting.
                _ = try await connection.command("PING")
                _ = try await connection.command("PING")
            }
            #expect(error?.code == code)
            #expect(error?.kind == kind)
            #expect(error?.message.contains("topsecret") == false)
        }
    }

    // MARK: Commands

    @Test("10,000 commands sent at once are answered in their order, by callbacks and by tasks")
    func answersInOrder() async throws {
        try await TestRedis.run { redis in
            let connection = try await redis.connect()
            let told = Told<[Int64?]>()
            await connection.echo(10_000, into: told)
            try await told.wait { $0.count == 1 }
            #expect(told.all.first == (0..<10_000).map { Int64($0) })
            try await withThrowingTaskGroup(of: Bool.self) { tasks in
                for number in 0..<2_000 {
                    tasks.addTask {
                        try await connection.command("ECHO", .number(Int64(number))).integer == Int64(number)
                    }
                }
                for try await isRight in tasks { #expect(isRight) }
            }
            #expect(await connection.waitingCount == 0)
            await connection.close()
        }
    }

    @Test("Big values come back as they were")
    func sendsBigValues() async throws {
        try await TestRedis.run { redis in
            let connection = try await redis.connect()
            let value = (0..<8_388_608).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ $0 >> 8) }
            _ = try await connection.command("SET", "big", .bytes(value))
            #expect(try await connection.command("STRLEN", "big") == .integer(8_388_608))
            let answer = try await connection.command("GET", "big").bytes
            #expect(answer == value)
            await connection.close()
        }
    }

    @Test("An error is that of its command alone")
    func keepsErrorsApart() async throws {
        try await TestRedis.run { redis in
            let connection = try await redis.connect()
            let error = await redisError { _ = try await connection.command("NONSENSE") }
            #expect(error?.code == .refused)
            #expect(error?.kind == .general)
            #expect(try await connection.command("SET", "a", 1) == .simple("OK"))
            let wrong = await redisError { _ = try await connection.command("LPUSH", "a", "x") }
            #expect(wrong?.kind?.rawValue == "WRONGTYPE")
            #expect(try await connection.command("GET", "a").integer == 1)
            await connection.close()
        }
    }

    @Test(
        "As many commands as may be go out; tasks wait for room, callbacks are refused, a cancelled task leaves at once"
    )
    func boundsCommands() async throws {
        try await TestRedis.run { redis in
            var options = RedisOptions()
            options.unansweredCommands = 3
            let connection = try await redis.connect(options)
            redis.pause()
            let told = Told<Result<RedisValue, RedisError>>()
            await connection.send(4, "PING", into: told)
            // Three wait for the server, the fourth was refused at once.
            #expect(told.all.count == 1)
            guard case .failure(let refusal)? = told.all.first else {
                Issue.record("nothing was refused")
                return
            }
            #expect(refusal.code == .busy)
            let cancelled = Task { try await connection.command("GET", "a") }
            let waiting = Task { try await connection.command("ECHO", "b") }
            _ = await comesTrue { await connection.waitingCount == 5 }
            cancelled.cancel()
            await #expect(throws: CancellationError.self) { try await cancelled.value }
            #expect(await connection.waitingCount == 4)
            redis.resume()
            #expect(try await waiting.value == .bulk(Array("b".utf8)))
            #expect(told.all.count == 4)
            await connection.close()
        }
    }

    @Test("A task that is cancelled doesn't take the next one's answer")
    func skipsCancelledAnswers() async throws {
        try await TestRedis.run { redis in
            let connection = try await redis.connect()
            redis.pause()
            let first = Task { try await connection.command("ECHO", "a") }
            _ = await comesTrue { await connection.waitingCount == 1 }
            let second = Task { try await connection.command("ECHO", "b") }
            _ = await comesTrue { await connection.waitingCount == 2 }
            first.cancel()
            await #expect(throws: CancellationError.self) { try await first.value }
            redis.resume()
            #expect(try await second.value == .bulk(Array("b".utf8)))
            await connection.close()
        }
    }

    // MARK: The end

    @Test("When the server is killed, all who wait know at once")
    func tellsOfTheEnd() async throws {
        try await TestRedis.run { redis in
            let connection = try await redis.connect()
            let ended = Told<RedisError>()
            await connection.tellEnd(ended)
            redis.pause()
            let tasks = (0..<20).map { _ in Task { try await connection.command("PING") } }
            _ = await comesTrue { await connection.waitingCount == 20 }
            await redis.kill()
            for task in tasks {
                let error = await redisError { _ = try await task.value }
                #expect(error?.code == .connectionLost)
            }
            try await ended.wait { $0.count == 1 }
            let late = await redisError { _ = try await connection.command("PING") }
            #expect(late?.code == .connectionLost)
        }
    }

    @Test("A late answer ends the connection, and an idle server that has stalled is noticed")
    func noticesStalls() async throws {
        try await TestRedis.run { redis in
            try await TestLoop.run { loop in
                let options = RedisOptions()
                for isIdle in [false, true] {
                    let connection = try await RedisConnection.connect(
                        to: try redis.address,
                        options: options,
                        on: loop.loop
                    )
                    let ended = Told<RedisError>()
                    await connection.tellEnd(ended)
                    redis.pause()
                    if isIdle {
                        await loop.advance(by: options.pingInterval)
                    } else {
                        await connection.send(1, "GET", "a", into: Told())
                    }
                    await loop.advance(by: options.responseTimeout - .milliseconds(100))
                    #expect(ended.all.isEmpty)
                    await loop.advance(by: .milliseconds(200))
                    #expect(ended.all.map(\.code) == [.timedOut])
                    #expect(ended.all.first?.message.contains(isIdle ? "PING" : "GET") == true)
                    redis.resume()
                }
            }
        }
    }

    @Test("An idle server that lives keeps its connection")
    func keepsIdleConnections() async throws {
        try await TestRedis.run { redis in
            try await TestLoop.run { loop in
                let options = RedisOptions()
                let connection = try await RedisConnection.connect(to: redis.address, options: options, on: loop.loop)
                for _ in 0..<5 {
                    await loop.advance(by: options.pingInterval)
                    _ = await comesTrue { await connection.waitingCount == 0 }
                }
                #expect(await connection.end == nil)
                #expect(try await connection.command("GET", "a") == .null)
                await connection.close()
            }
        }
    }
}

extension RedisConnection {
    /// Sends numbers and tells those that come back, once all have.
    fileprivate func echo(_ count: Int, into told: Told<[Int64?]>) {
        let batch = RedisBatch(count) { results in told.add(results.map { try? $0.get().integer }) }
        let bound = LoopBound(batch, on: loop.thread)
        for number in 0..<count { send(RedisCommand("ECHO", .number(Int64(number)))) { bound.value.add($0) } }
    }

    /// Sends the same command several times.
    fileprivate func send(_ count: Int, _ words: RedisCommand.Word..., into told: Told<Result<RedisValue, RedisError>>)
    {
        for _ in 0..<count { send(RedisCommand(words)) { told.add($0) } }
    }

    fileprivate func tellEnd(_ told: Told<RedisError>) {
        endHandler = { told.add($0) }
    }
}

@Suite("What is said first to Redis")
struct RedisGreetingTests {
    private static func names(_ url: RedisURL) -> [String] {
        RedisGreeting(url: url, name: "test").commands.map { command in
            command.words.map { word in
                switch word {
                case .text(let text): text
                case .number(let number): "\(number)"
                case .bytes: "bytes"
                }
            }.joined(separator: " ")
        }
    }

    @Test("Who logs in does so in the same command, and only another database is chosen")
    func saysHello() {
        #expect(Self.names("redis://a") == ["HELLO 3 SETNAME test", "PING"])
        #expect(
            Self.names("redis://me:secret@a/2") == ["HELLO 3 AUTH me secret SETNAME test", "SELECT 2", "PING"]
        )
    }

    private static let hello = Result<RedisValue, RedisError>.success(.map([.init(.simple("role"), .simple("master"))]))

    private static func refusal(_ text: String) -> Result<RedisValue, RedisError> {
        .failure(RedisError(RedisErrorReply(text)))
    }

    @Test("A server that is ready may be used, also by a user who may not ask whether it is")
    func takesAnswers() throws {
        let ok = Result<RedisValue, RedisError>.success(.simple("OK"))
        #expect(try RedisGreeting.check([Self.hello, ok]).value(of: "role") == .simple("master"))
        #expect(throws: Never.self) { try RedisGreeting.check([Self.hello, ok, ok]) }
        #expect(throws: Never.self) { try RedisGreeting.check([Self.hello, Self.refusal("NOPERM ping")]) }
    }

    @Test("Any other refusal is the end")
    func refusesAnswers() {
        let ok = Result<RedisValue, RedisError>.success(.simple("OK"))
        for answers in [
            [Self.refusal("WRONGPASS no"), ok], [Self.hello, Self.refusal("LOADING")],
            [Self.hello, Self.refusal("NOPERM select"), ok],
            [Self.hello, Self.refusal("ERR DB index is out of range"), ok],
        ] {
            let error = #expect(throws: RedisError.self) { try RedisGreeting.check(answers) }
            #expect(error?.code == .refused)
        }
        let error = #expect(throws: RedisError.self) {
            try RedisGreeting.check([Self.refusal("ERR unknown command 'HELLO'"), ok])
        }
        #expect(error?.code == .malformed)
        #expect(error?.message.contains("Redis 6 or later") == true)
    }
}
