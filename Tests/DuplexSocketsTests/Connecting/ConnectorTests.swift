// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTestTimes
import Testing

@testable import DuplexSockets

@Suite struct ConnectorTests {
    /// Connects, closes again, and says where to.
    private func connect(
        to endpoint: Endpoint,
        within timeout: Duration = .limit(seconds: 20)
    ) async throws -> SocketAddress? {
        let loop = try EventLoop()
        let result: Result<SocketAddress?, any Error>
        do {
            let address = try await Connector.connect(to: endpoint, on: loop, timeout: timeout) { channel in
                let address = SocketAddress.remote(of: channel.value.descriptor)
                channel.value.close()
                return address
            }
            result = .success(address)
        } catch {
            result = .failure(error)
        }
        await loop.stop()
        return try result.get()
    }

    @Test("An address, a literal and a name all lead to the listener")
    func connecting() async throws {
        let (listener, address) = try Descriptors.listener()
        defer { SystemCalls.close(listener) }
        #expect(try await connect(to: .address(address)) == address)
        #expect(try await connect(to: .host("127.0.0.1", port: address.port)) == address)
        #expect(try await connect(to: .host("localhost", port: address.port)) == address)
    }

    @Test("A refusal says where to, and has the system's reason among its causes")
    func refused() async throws {
        let (refusing, address) = try Descriptors.refusing()
        defer { SystemCalls.close(refusing) }
        await #expect { try await connect(to: .address(address)) } throws: {
            let error = $0 as? SocketError
            return error?.code == .cannotConnect && error?.message.hasPrefix("\(address): ") == true
                && error?.causes.map(\.errno) == [111]
        }
    }

    @Test("A port out of range and a name that doesn't exist fail by their own codes")
    func invalid() async throws {
        for port in [-1, 0, 65_536] {
            await #expect { try await connect(to: .host("localhost", port: port)) } throws: {
                ($0 as? SocketError)?.code == .invalidAddress
            }
        }
        await #expect { try await connect(to: .host("nosuchhost.invalid", port: 1)) } throws: {
            ($0 as? SocketError)?.code == .unknownHost
        }
    }

    @Test("A listener that never answers fails the connection at its deadline")
    func deadline() async throws {
        let (silent, address) = try Descriptors.silent()
        defer { for descriptor in silent { SystemCalls.close(descriptor) } }
        await #expect { try await connect(to: .address(address), within: .milliseconds(60)) } throws: {
            ($0 as? SocketError)?.code == .timedOut
        }
    }

    @Test("Cancelling at once ends the wait, however long the deadline")
    func cancelling() async throws {
        let (silent, address) = try Descriptors.silent()
        defer { for descriptor in silent { SystemCalls.close(descriptor) } }
        let task = Task { try await connect(to: .address(address), within: .seconds(3_600)) }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }
}
