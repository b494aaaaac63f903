// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexSockets

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// A directory of a test's own, which goes with it.
final class LineDirectory {
    let path: String

    init() throws {
        var template = Array("/tmp/duplex-lines-XXXXXX".utf8CString)
        guard unsafe mkdtemp(&template) != nil else { throw SocketError(.system, message: "", errno: errno) }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit {
        for name in ["log"] + (0..<9).map({ "log.\($0)" }) { _ = unsafe unlink("\(path)/\(name)") }
        _ = unsafe rmdir(path)
    }

    var log: String { path + "/log" }

    /// What a file has; `nil` when there is none.
    func text(_ name: String = "log") -> String? {
        let descriptor = unsafe open("\(path)/\(name)", O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { SystemCalls.close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: 1 << 20)
        let count = unsafe read(descriptor, &bytes, bytes.count)
        return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
    }
}

@Suite("Files that make way before they get too long")
struct RotatingFileTests {
    private func line(_ text: String) -> LineBatch { lines([text]) }

    private func lines(_ texts: [String]) -> LineBatch {
        var lines = LineBatch()
        for text in texts { lines.append(Array((text + "\n").utf8)) }
        return lines
    }

    @Test("A line that doesn't fit goes to a new file, the older ones move on, and the oldest goes")
    func rotating() throws {
        let directory = try LineDirectory()
        var file = try RotatingFile(path: directory.log, sizeLimit: 8, fileLimit: 3)
        for number in 0..<8 {
            let isWritten = file.append(line("a\(number)")).isWell
            #expect(isWritten)
        }
        #expect(directory.text() == "a6\na7\n")
        #expect(directory.text("log.1") == "a4\na5\n" && directory.text("log.2") == "a2\na3\n")
        #expect(directory.text("log.3") == nil)
    }

    @Test("Of many lines as many as fit go to each file, and one that is too long to none")
    func many() throws {
        let directory = try LineDirectory()
        var file = try RotatingFile(path: directory.log, sizeLimit: 8, fileLimit: 3)
        let outcome = file.append(lines(["a", "too long", "b", "c", "d", "e", "f", "too long"]))
        #expect(outcome == LineBatch.Outcome(written: 6, isWell: false))
        #expect(directory.text() == "e\nf\n" && directory.text("log.1") == "a\nb\nc\nd\n")
        #expect(file.append(LineBatch()) == LineBatch.Outcome())
    }

    @Test("A file that can't make way gets no longer: what doesn't fit is dropped")
    func stuck() throws {
        let directory = try LineDirectory()
        // A folder with something in it can't be replaced by a file.
        let inTheWay = directory.path + "/log.1"
        try #require(unsafe mkdir(inTheWay, 0o700) == 0 && mkdir(inTheWay + "/x", 0o700) == 0)
        defer { _ = unsafe (rmdir(inTheWay + "/x"), rmdir(inTheWay)) }
        var file = try RotatingFile(path: directory.log, sizeLimit: 8, fileLimit: 2)
        let written = (0..<4).map { file.append(line("a\($0)")).isWell }
        #expect(written == [true, true, false, false])
        #expect(directory.text() == "a0\na1\n")
    }

    @Test("With one file the new one takes its place")
    func single() throws {
        let directory = try LineDirectory()
        var file = try RotatingFile(path: directory.log, sizeLimit: 4, fileLimit: 1)
        for text in ["abc", "def"] {
            let isWritten = file.append(line(text)).isWell
            #expect(isWritten)
        }
        #expect(directory.text() == "def\n" && directory.text("log.1") == nil)
    }

    @Test("A line that is longer than a file may be isn't written, and one of just that length is")
    func tooLong() throws {
        let directory = try LineDirectory()
        var file = try RotatingFile(path: directory.log, sizeLimit: 4, fileLimit: 2)
        let (long, fitting) = (file.append(line("abcd")).isWell, file.append(line("abc")).isWell)
        #expect(!long && fitting)
        #expect(directory.text() == "abc\n")
    }

    @Test("What is there already counts, and only the owner may read it")
    func appending() throws {
        let directory = try LineDirectory()
        for text in ["abc", "def"] {
            var file = try RotatingFile(path: directory.log, sizeLimit: 8, fileLimit: 2)
            let isWritten = file.append(line(text)).isWell
            #expect(isWritten)
        }
        #expect(directory.text() == "abc\ndef\n")
        var file = try RotatingFile(path: directory.log, sizeLimit: 8, fileLimit: 2)
        let isWritten = file.append(line("")).isWell
        #expect(isWritten && directory.text() == "\n" && directory.text("log.1") == "abc\ndef\n")
        var status = stat()
        let code = unsafe stat(directory.log, &status)
        #expect(code == 0 && status.st_mode & 0o777 == 0o600)
    }

    @Test("A path that leads nowhere is an error with the system's number")
    func unopenable() {
        do {
            _ = try RotatingFile(path: "/nowhere/log", sizeLimit: 1, fileLimit: 1)
            Issue.record("it was opened")
        } catch {
            #expect(error.code == .system && error.errno == ENOENT)
        }
    }

    @Test("A file that somebody has moved away is made anew once it is told")
    func reopened() throws {
        let directory = try LineDirectory()
        var file = try RotatingFile(path: directory.log, sizeLimit: 8, fileLimit: 3)
        let first = file.append(line("a0")).isWell
        #expect(unsafe rename(directory.log, directory.path + "/log.8") == 0)
        let second = file.append(line("a1")).isWell
        file.reopen()
        let third = file.append(line("a2")).isWell
        #expect(first && second && third)
        #expect(directory.text("log.8") == "a0\na1\n" && directory.text() == "a2\n")
        // Its length is that of the new one.
        let fourth = file.append(line("a3")).isWell
        #expect(fourth && directory.text() == "a2\na3\n" && directory.text("log.1") == nil)
    }
}
