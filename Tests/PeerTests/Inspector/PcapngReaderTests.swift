// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

#if os(Linux)
import DuplexTestProcesses
import DuplexTestTimes
import DuplexWire
import Foundation
import Testing

@testable import DuplexInspector

extension PeerTests {
    /// What Wireshark's tshark reads in the files that the inspector writes.
    @Suite struct PcapngReaderTests {
        /// A frame as tshark tells it.
        private struct Seen: Equatable, CustomStringConvertible {
            var micros: Int64
            var isClients: Bool
            var isFinal: Bool
            var opcode: Int
            var payload: [UInt8]

            var description: String { "\(micros) \(isClients) \(isFinal) \(opcode) \(payload.count)" }
        }

        @Test("It finds every frame: direction, time, opcode, end and payload", .timeLimit(minutes: 2))
        func frames() async throws {
            let recording = try RecordedTraffic.recording()
            var seen: [String: [Seen]] = [:]
            for line in try await Self.frames(recording) {
                let parts = line.split(separator: " ").map(String.init)
                try #require(parts.count == 6, "\(line)")
                let frame = Seen(
                    micros: try #require(Int64(parts[1])),
                    isClients: parts[2] == "1",
                    isFinal: parts[3] == "1",
                    opcode: try #require(Int(parts[4])),
                    payload: try #require(Base16.decode(parts[5] == "-" ? "" : parts[5]))
                )
                seen[parts[0], default: []].append(frame)
            }
            #expect(seen.count == recording.connections.count)
            let expected = recording.connections.map { connection in
                connection.frames.map { frame in
                    Seen(
                        micros: Int64((frame.time * 1_000_000).rounded()),
                        isClients: frame.isOutgoing == connection.isClient,
                        isFinal: frame.isFinal,
                        opcode: Int(frame.opcode.rawValue),
                        payload: frame.payload.bytes
                    )
                }
            }
            #expect(Set(seen.values.map(\.description)) == Set(expected.map(\.description)))
            for frames in expected { #expect(seen.values.contains(frames)) }
        }

        @Test("It finds the requests, their fields and bodies, and the responses to them", .timeLimit(minutes: 2))
        func exchanges() async throws {
            let recording = try Recording(exchanges: RecordedTraffic.exchanges())
            let lines = try await Self.tshark(
                recording,
                [
                    "-Y", "http", "-T", "fields", "-E", "separator=;", "-e", "tcp.stream", "-e", "http.request.method",
                    "-e", "http.request.full_uri", "-e", "http.cookie", "-e", "http.response.code", "-e",
                    "http.file_data",
                ]
            )
            let target = "http://example.com:8080/things/"
            let requests = ["GET", "POST", "HEAD", "DELETE"].enumerated().map { index, method in
                "\(method);\(target)\(index)?name=a%20b&empty=;a=1; b=2=3"
            }
            for request in requests { #expect(lines.contains { $0.contains(request) }, "\(request) in \(lines)") }
            let codes = lines.compactMap { Int($0.split(separator: ";", omittingEmptySubsequences: false)[4]) }
            #expect(codes == [200, 200, 200, 204])
            let sizes = try await Self.tshark(
                recording,
                [
                    "-Y", "http.response", "-T", "fields", "-e", "http.content_length",
                ]
            )
            #expect(sizes == ["150000", "3", "", ""])
            #expect(Set(lines.compactMap { $0.split(separator: ";").first }).count == 2)
        }

        @Test(
            "It finds fault with nothing: no checksum, no sequence number, no malformed packet",
            .timeLimit(minutes: 2)
        )
        func remarks() async throws {
            // From a note on; what is less is the talk of TCP, whose end is noted as well.
            let remarks = try await Self.tshark(
                RecordedTraffic.recording(),
                [
                    "-Y", "(_ws.expert.severity >= 0x00400000 && !tcp.flags.fin) || _ws.malformed || _ws.unreassembled",
                    "-T", "fields",
                    "-e", "frame.number", "-e", "_ws.expert.message",
                ]
            )
            #expect(remarks == [])
            let checked = try await Self.tshark(
                RecordedTraffic.recording(),
                [
                    "-T", "fields", "-E", "separator=;", "-e", "tcp.checksum.status", "-e", "ip.checksum.status",
                ]
            )
            #expect(Set(checked) == ["1;", "1;1"])
        }

        @Test("It tells what was said of packets", .timeLimit(minutes: 2))
        func comments() async throws {
            var recording = try RecordedTraffic.recording()
            recording.connections[0].frames[0].payload = RecordedBytes([0x61], of: 1_000)
            let comments = try await Self.tshark(
                recording,
                ["-Y", "frame.comment", "-T", "fields", "-e", "frame.comment"]
            )
            #expect(Set(comments) == ["The first 1 of 1000 bytes.", "This went over TLS."])
        }

        /// The frames that tshark finds in a recording.
        private static func frames(_ recording: Recording) async throws -> [String] {
            try await withTestFolder { folder in
                let file = folder + "recording.pcapng"
                try Data(PcapngFile.write(recording)).write(to: URL(filePath: file))
                let script = Peer.path("Tests/PeerTests/Peers/pcapng_frames.py")
                let output = try await PeerProcess.run([Peer.python, script, file], environment: ["HOME": folder])
                return output.split(separator: "\n").map(String.init)
            }
        }

        /// The lines that tshark prints of a recording, with every check that it has.
        private static func tshark(_ recording: Recording, _ arguments: [String]) async throws -> [String] {
            try await withTestFolder { folder in
                let file = folder + "recording.pcapng"
                try Data(PcapngFile.write(recording)).write(to: URL(filePath: file))
                let checks = [
                    "tcp.check_checksum:TRUE", "ip.check_checksum:TRUE", "tcp.analyze_sequence_numbers:TRUE",
                    "http.decompress_body:FALSE",
                ]
                let command = ["/usr/bin/env", "tshark", "-n", "-r", file]
                let options = checks.flatMap { ["-o", $0] }
                let output = try await PeerProcess.run(command + options + arguments, environment: ["HOME": folder])
                let lines = output.split(separator: "\n", omittingEmptySubsequences: false).dropLast().map(String.init)
                return lines.filter { !$0.hasPrefix("Running as user") }
            }
        }
    }
}
#endif
