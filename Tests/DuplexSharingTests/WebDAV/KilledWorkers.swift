// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexBase
import Foundation
import Synchronization
import Testing

@testable import DuplexSharing

// The clients of KilledServerTests. Each keeps which states there may be: one, but for a request that wasn't answered.

/// What may be, of a type of states.
private final class Ledger<State: Hashable & Sendable>: Sendable {
    private let value: Mutex<(states: Set<State>, done: Int)>

    init(_ state: State) { value = Mutex(([state], 0)) }

    var state: State? { value.withLock { $0.states.count == 1 ? $0.states.first : nil } }
    var done: Int { value.withLock { $0.done } }

    /// Makes a request that leads to another state, if it is answered with success.
    func change(to new: State, _ request: () async throws -> Bool) async throws {
        let old = value.withLock { value in
            defer { value.states.insert(new) }
            return value.states
        }
        let isDone = try await request()
        value.withLock { value in
            value.states = isDone ? [new] : old
            value.done += 1
        }
    }

    /// What is there has to be one of them.
    func settle(_ state: State, _ what: String) throws {
        try value.withLock { value in
            guard value.states.contains(state) else {
                throw Inconsistent(description: "\(what): there is \(state), and there may be \(value.states)")
            }
            value.states = [state]
        }
    }
}

/// Contents by number, of lengths from nothing to some hundred kilobytes, which can be told whole.
private enum Content {
    static func bytes(_ number: Int) -> [UInt8] {
        let filler = UInt8(truncatingIfNeeded: 0x41 + number % 26)
        return Array("\(number) ".utf8) + [UInt8](repeating: filler, count: number &* 7_919 % 300_000)
    }

    /// Nil for no file; throws for one that isn't whole.
    static func number(at path: String) throws -> Int? {
        guard let data = FileManager.default.contents(atPath: path) else { return nil }
        let number = Int(String(decoding: data.prefix { $0 != 0x20 }, as: UTF8.self))
        guard let number, data == Data(bytes(number)) else {
            throw Inconsistent(description: "\(path) isn't whole: \(data.count) bytes of \(number ?? -1)")
        }
        return number
    }
}

/// Takes what the server answers for success, for a refusal, or for a fault.
private func succeeds(_ answer: ServerProcess.Answer, or refusals: Int...) throws -> Bool {
    if answer.status < 300 && answer.status != 207 { return true }
    if refusals.contains(answer.status) { return false }
    throw Inconsistent(description: "answered \(answer.status): \(answer.text)")
}

extension KilledWorker {
    /// Makes requests until the server has gone; a fault of the server is one of the test.
    fileprivate func repeating(
        _ generator: SeededGenerator,
        _ step: (inout SeededGenerator) async throws -> Void
    ) async {
        var generator = generator
        while true {
            do { try await step(&generator) } catch let error as Inconsistent {
                Issue.record("\(name): \(error)")
                return
            } catch { return }
        }
    }
}

// MARK: PUT and DELETE

final class FileWorker: KilledWorker {
    private let root: String
    private let path: String
    private let ledger = Ledger<Int?>(nil)
    private let last = Mutex(0)

    init(_ root: String, _ path: String = "file") { (self.root, self.path) = (root, path) }

    var name: String { "PUT \(path)" }
    var done: Int { ledger.done }
    func prepare() {}

    func work(_ server: ServerProcess, _ generator: SeededGenerator) async {
        await repeating(generator) { generator in
            if Int.random(in: 0..<8, using: &generator) == 0 {
                try await ledger.change(to: nil) {
                    let answer = try await server.request("DELETE", path)
                    return try succeeds(answer, or: 404) || answer.status == 404
                }
                return
            }
            let number = last.withLock { last in
                last += 1
                return last
            }
            let bytes = Content.bytes(number)
            try await ledger.change(to: number) { try succeeds(try await server.request("PUT", path, "", bytes)) }
        }
    }

    func verify(_ server: ServerProcess) async throws {
        let number = try Content.number(at: root + path)
        try ledger.settle(number, name)
        let answer = try await server.request("GET", path)
        guard answer.status == (number == nil ? 404 : 200) else {
            throw Inconsistent(description: "\(path) is \(String(describing: number)), and GET says \(answer.status)")
        }
    }
}

// MARK: MOVE and COPY

/// Moves and copies files and folders onto one another: each name has one of the numbers, or none.
final class TreeWorker: KilledWorker {
    private let root: String
    private static let names = ["tree/a", "tree/b", "tree/c", "tree/d"]
    private let ledger = Ledger<[Int?]>([1, 2, 3, nil])

    init(_ root: String) { self.root = root }

    var name: String { "MOVE" }
    var done: Int { ledger.done }

    /// Odd ones are folders with three files, the others are files.
    private func make(_ number: Int, at path: String) throws {
        if number % 2 == 0 { return try Data(Content.bytes(number)).write(to: URL(fileURLWithPath: path)) }
        try FileManager.default.createDirectory(atPath: path + "/inner", withIntermediateDirectories: true)
        for file in ["/x", "/y", "/inner/z"] {
            try Data(Content.bytes(number)).write(to: URL(fileURLWithPath: path + file))
        }
    }

    func prepare() throws {
        try FileManager.default.createDirectory(atPath: root + "tree", withIntermediateDirectories: true)
        for (index, number) in (ledger.state ?? []).enumerated() {
            if let number { try make(number, at: root + Self.names[index]) }
        }
    }

    func work(_ server: ServerProcess, _ generator: SeededGenerator) async {
        await repeating(generator) { generator in
            guard let now = ledger.state else { return }
            let from = now.indices.filter { now[$0] != nil }.randomElement(using: &generator) ?? 0
            let to = now.indices.filter { $0 != from }.randomElement(using: &generator) ?? 0
            // There are to be three: else they are copied.
            let isMove = now.count(where: { $0 != nil }) > 2 && Bool.random(using: &generator)
            var next = now
            next[to] = now[from]
            if isMove { next[from] = nil }
            try await ledger.change(to: next) {
                let headers = "Destination: /dav/\(Self.names[to])\r\n"
                return try succeeds(try await server.request(isMove ? "MOVE" : "COPY", Self.names[from], headers))
            }
        }
    }

    private func number(at path: String) throws -> Int? {
        guard let attributes = try? FileManager.default.attributesOfItem(atPath: path) else { return nil }
        if attributes[.type] as? FileAttributeType != .typeDirectory { return try Content.number(at: path) }
        let all = try FileManager.default.subpathsOfDirectory(atPath: path).sorted()
        let numbers = try ["x", "y", "inner/z"].map { try Content.number(at: "\(path)/\($0)") }
        guard all == ["inner", "inner/z", "x", "y"], Set(numbers).count == 1, let number = numbers[0] else {
            throw Inconsistent(description: "\(path) isn't whole: \(all) \(numbers)")
        }
        return number
    }

    func verify(_ server: ServerProcess) async throws {
        try ledger.settle(try Self.names.map { try number(at: root + $0) }, name)
    }
}

// MARK: PROPPATCH

/// Notes numbers with a file that is written again and again: neither goes without the other.
final class PropertyWorker: KilledWorker {
    private struct State: Hashable, Sendable {
        var note: Int
        var content: Int
    }

    private let root: String
    private let ledger = Ledger(State(note: 0, content: 0))

    init(_ root: String) { self.root = root }

    var name: String { "PROPPATCH" }
    var done: Int { ledger.done }

    func prepare() throws { try Data(Content.bytes(0)).write(to: URL(fileURLWithPath: root + "noted")) }

    func work(_ server: ServerProcess, _ generator: SeededGenerator) async {
        await repeating(generator) { generator in
            guard var next = ledger.state else { return }
            if Bool.random(using: &generator) {
                next.content += 1
                let bytes = Content.bytes(next.content)
                try await ledger.change(to: next) { try succeeds(try await server.request("PUT", "noted", "", bytes)) }
            } else {
                next.note += 1
                // The long ones are kept beside, where the file system has no room for them with the file.
                let filler = String(repeating: "x", count: next.note % 3 == 0 ? 20_000 : 10)
                let body = """
                    <propertyupdate xmlns='DAV:'><set><prop><n:note xmlns:n='u:'>\(next.note) \(filler)</n:note></prop></set>\
                    </propertyupdate>
                    """
                try await ledger.change(to: next) {
                    let answer = try await server.request("PROPPATCH", "noted", "", Array(body.utf8))
                    try check(answer)
                    return answer.text.contains("200 OK")
                }
            }
        }
    }

    /// An answer that was cut off by the end of the server says nothing about the change.
    private func check(_ answer: ServerProcess.Answer) throws {
        guard answer.status == 207 else { throw Inconsistent(description: "answered \(answer.status): \(answer.text)") }
        guard answer.text.contains("multistatus>") else { throw CocoaError(.fileReadUnknown) }
    }

    func verify(_ server: ServerProcess) async throws {
        let body = "<propfind xmlns='DAV:'><prop><note xmlns='u:'/></prop></propfind>"
        let answer = try await server.request("PROPFIND", "noted", "Depth: 0\r\n", Array(body.utf8))
        try check(answer)
        let value = answer.text.components(separatedBy: ":note").dropFirst().first?.components(separatedBy: ">")
            .dropFirst().first?.prefix { $0.isNumber }
        guard let content = try Content.number(at: root + "noted") else {
            throw Inconsistent(description: "the file that is noted has gone")
        }
        let state = State(note: value.flatMap { Int($0) } ?? 0, content: content)
        try ledger.settle(state, "\(name): \(answer.text.suffix(400))")
    }
}

// MARK: LOCK and UNLOCK

/// Locks and unlocks names, one of which has no file at first; while one is locked nobody writes it.
final class LockWorker: KilledWorker {
    private enum State: Hashable, Sendable {
        case free
        case locked(String)
        /// By a lock whose token nobody was told.
        case taken
    }

    private let root: String
    private let ledger = Ledger(State.free)
    private static let path = "locked"

    init(_ root: String) { self.root = root }

    var name: String { "LOCK" }
    var done: Int { ledger.done }
    func prepare() {}

    func work(_ server: ServerProcess, _ generator: SeededGenerator) async {
        await repeating(generator) { generator in
            guard case .locked(let token) = ledger.state else { return try await lock(server) }
            let condition = "If: (<\(token)>)\r\n"
            switch Int.random(in: 0..<5, using: &generator) {
            case 0:
                let answer = try await server.request("PUT", Self.path, "", Array("x".utf8))
                if answer.status != 423 { throw Inconsistent(description: "a lock doesn't hold: \(answer.status)") }
            case 1:
                guard try succeeds(try await server.request("LOCK", Self.path, condition)) else { return }
            case 2:
                guard try succeeds(try await server.request("PUT", Self.path, condition, Array("y".utf8))) else {
                    return
                }
            case 3:
                try await ledger.change(to: .free) {
                    try succeeds(try await server.request("DELETE", Self.path, condition))
                }
            default:
                try await ledger.change(to: .free) {
                    try succeeds(try await server.request("UNLOCK", Self.path, "Lock-Token: <\(token)>\r\n"))
                }
            }
        }
    }

    private func lock(_ server: ServerProcess) async throws {
        var token = ""
        try await ledger.change(to: .taken) {
            let answer = try await server.request("LOCK", Self.path, "", Array(WebDAVFixture.lockInfo().utf8))
            token = answer.value("Lock-Token").map { String($0.dropFirst().dropLast()) } ?? ""
            return try succeeds(answer)
        }
        try await ledger.change(to: .locked(token)) { true }
    }

    func verify(_ server: ServerProcess) async throws {
        let body = "<propfind xmlns='DAV:'><prop><lockdiscovery/></prop></propfind>"
        let answer = try await server.request("PROPFIND", Self.path, "Depth: 0\r\n", Array(body.utf8))
        let tokens = answer.text.components(separatedBy: "urn:uuid:").dropFirst().map { "urn:uuid:" + $0.prefix(36) }
        guard tokens.count < 2, answer.status == 207 || tokens.isEmpty else {
            throw Inconsistent(description: "locks: \(answer.status) \(tokens)")
        }
        guard let token = tokens.first else { return try ledger.settle(.free, name) }
        // One that nobody was told of is there, or one that was.
        do { try ledger.settle(.locked(token), name) } catch {
            try ledger.settle(.taken, name)
            try await ledger.change(to: .locked(token)) { true }
        }
    }
}
