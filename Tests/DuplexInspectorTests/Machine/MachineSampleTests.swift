// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import Foundation
import Testing

@testable import DuplexInspector

@Suite("The process and the machine at some moment")
struct MachineSampleTests {
    private struct Process: Decodable {
        struct CPU: Decodable { var user: Double, system: Double }
        struct Memory: Decodable { var resident: Int, peak: Int }
        struct Descriptors: Decodable { var open: Int, limit: Int?, kinds: [String: Int] }
        struct Thread: Decodable { var id: Int, name: String, state: String, cpu: Double }
        var id: Int, name: String, cpu: CPU, memory: Memory, descriptors: Descriptors
        var threadCount: Int, threads: [Thread], started: Double
    }

    private struct Machine: Decodable {
        var host: String, system: String, kernel: String, processors: Int, uptime: Double, load: [Double]
        var memory: Int, available: Int
    }

    private static func decoded<Value: Decodable>(_ json: JSONText) throws -> Value {
        try JSONDecoder().decode(Value.self, from: Data(json.text.utf8))
    }

    @Test("The process is this one")
    func process() throws {
        let process: Process = try Self.decoded(MachineSample().process)
        #expect(process.id == Int(ProcessInfo.processInfo.processIdentifier))
        #expect(process.memory.resident > 1_000_000 && process.memory.peak >= process.memory.resident)
        let listed = process.descriptors.kinds.values.reduce(0, +)
        #expect(process.descriptors.open > 2 && listed == min(process.descriptors.open, DescriptorCensus.limit))
        #expect(process.threads.contains { $0.id == process.id } || process.threadCount > MachineSample.threadLimit)
        let now = Date().timeIntervalSince1970
        #expect(process.started < now && process.started > now - 86_400)
        #expect(zip(process.threads, process.threads.dropFirst()).allSatisfy { $0.cpu >= $1.cpu })
    }

    @Test("The machine is this one")
    func machine() throws {
        let machine: Machine = try Self.decoded(MachineSample().machine)
        #expect(machine.processors == ProcessInfo.processInfo.activeProcessorCount)
        #expect(!machine.host.isEmpty && machine.kernel.hasPrefix("Linux "))
        #expect(machine.load.count == 3 && machine.uptime > 0 && machine.memory > machine.available)
    }

    @Test("What isn't known is null, and no zero")
    func unknown() {
        var sample = MachineSample()
        sample.usage = nil
        sample.allocations = nil
        sample.status = ""
        sample.stat = nil
        sample.descriptors = nil
        sample.threads = nil
        let text = sample.process.text
        for part in [
            #""cpu":null"#, #""resident":null,"peak":null"#, #""open":null,"limit":null,"kinds":{}"#,
            #""threadCount":null,"threads":null,"started":null,"allocator":null"#,
        ] {
            #expect(text.contains(part), "\(part) in \(text)")
        }
    }
}
