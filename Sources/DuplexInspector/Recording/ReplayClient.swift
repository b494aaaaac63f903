// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexWire
import HTTPTypes

/// Makes a recorded request again, and reads what is answered.
struct ReplayClient: Sendable {
    /// The most bytes of a body that are read.
    static let bodyBound = ByteCount.mebibytes(64)

    /// What was answered; of its body the length only.
    struct Answer: Sendable, Equatable {
        var status: Int
        var size: UInt64
        /// From the first byte out to the last byte in.
        var seconds: Double
    }

    let target: ReplayTarget
    /// Take the place of recorded fields.
    var fields = HTTPFields()
    var tls = TLSOptions()
    /// How long a request may take, connecting and all.
    var timeout = Duration.seconds(20)

    /// Makes the request, on a connection of its own.
    ///
    /// - Parameter exchange: its fields go with it, but for those of the connection and those that were masked.
    /// - Returns: what was answered.
    /// - Throws: `SocketError`, `HTTPError`, `CancellationError`.
    func send(_ exchange: RecordedExchange) async throws -> Answer {
        let deadline = ContinuousClock.now + timeout
        var options = ConnectOptions(timeout: timeout)
        options.tls = tls
        let socket = try await Socket.connect(to: target.endpoint, options: options)
        do {
            let began = ContinuousClock.now
            let request = RecordedHeads.replay(exchange, host: target.authority, fields)
            try await socket.write(request, timeout: Self.rest(until: deadline))
            var reading = ResponseReading(answering: HTTPRequest.Method(exchange.method) ?? .get)
            while !reading.isDone {
                let bytes = try await socket.read(timeout: Self.rest(until: deadline))
                guard let bytes else {
                    try reading.finish()
                    break
                }
                try reading.take(bytes)
            }
            await socket.close()
            return Answer(status: reading.status, size: reading.size, seconds: (ContinuousClock.now - began).inSeconds)
        } catch {
            await socket.reset()
            throw error
        }
    }

    /// Never nothing, which would be no limit.
    private static func rest(until deadline: ContinuousClock.Instant) -> Duration {
        max(.milliseconds(1), deadline - ContinuousClock.now)
    }
}
