// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// Both ends of a pseudo-terminal: what is written to one can be read from the other.
struct PseudoTerminal: ~Copyable {
    /// The end that a person has.
    let person: Int32
    /// The end that a program has, to which it is a terminal.
    let program: Int32

    init() throws {
        let person = unsafe open("/dev/ptmx", O_RDWR | O_NOCTTY)
        try #require(person >= 0)
        let program = unsafe open(try Self.prepareOtherEnd(of: person), O_RDWR | O_NOCTTY)
        try #require(program >= 0)
        (self.person, self.program) = (person, program)
    }

    deinit {
        close(person)
        close(program)
    }

    /// Unlocks the program's end.
    ///
    /// - Returns: its path.
    private static func prepareOtherEnd(of person: Int32) throws -> String {
        #if canImport(Glibc)
        // What `unlockpt` and `ptsname` do; the module map doesn't have them. The numbers are TIOCSPTLCK and TIOCGPTN.
        var (lock, number): (Int32, UInt32) = (0, 0)
        try #require(unsafe ioctl(person, 0x4004_5431, &lock) == 0)
        try #require(unsafe ioctl(person, 0x8004_5430, &number) == 0)
        return "/dev/pts/\(number)"
        #else
        try #require(grantpt(person) == 0 && unlockpt(person) == 0)
        return unsafe String(cString: try #require(unsafe ptsname(person)))
        #endif
    }

    /// Expects that text to be the next that the program has written.
    func expect(_ text: String, at location: SourceLocation = #_sourceLocation) {
        #expect(Array(read(asLongAs: text).unicodeScalars) == Array(text.unicodeScalars), sourceLocation: location)
    }

    /// The next that the program has written, as long as `text`; a terminal makes CR LF of each LF.
    ///
    /// A terminal hands on what was written in pieces of its own choice.
    private func read(asLongAs text: String) -> String {
        var bytes: [UInt8] = []
        while bytes.count < text.utf8.count {
            let more = readAvailable(person, atMost: text.utf8.count - bytes.count)
            if more.isEmpty { break }
            bytes += more
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

/// A pipe: what is written to one end can be read from the other.
struct TestPipe: ~Copyable {
    let reading: Int32
    let writing: Int32
    private var isOpen = true

    init() throws {
        var ends: [Int32] = [0, 0]
        try #require(unsafe pipe(&ends) == 0)
        (reading, writing) = (ends[0], ends[1])
    }

    deinit {
        close(reading)
        if isOpen { close(writing) }
    }

    func write(_ bytes: [UInt8]) {
        _ = unsafe systemWrite(writing, bytes, bytes.count)
    }

    /// Ends what can be read.
    mutating func finishWriting() {
        close(writing)
        isOpen = false
    }

    func read() -> String {
        String(decoding: readAvailable(reading, atMost: 65_536), as: UTF8.self)
    }
}

/// One read of what is there; waits when there is nothing yet.
private func readAvailable(_ descriptor: Int32, atMost limit: Int) -> ArraySlice<UInt8> {
    var bytes = [UInt8](repeating: 0, count: limit)
    let count = unsafe read(descriptor, &bytes, limit)
    return bytes.prefix(max(0, count))
}

/// `write(2)`, whose name the method hides.
private func systemWrite(_ descriptor: Int32, _ bytes: UnsafeRawPointer, _ count: Int) -> Int {
    unsafe write(descriptor, bytes, count)
}
