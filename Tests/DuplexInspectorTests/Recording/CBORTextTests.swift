// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import Testing

@testable import DuplexInspector

@Suite("CBOR for people")
struct CBORTextTests {
    /// From RFC 8949 appendix A.
    static let examples: [(String, String)] = [
        ("00", "0"), ("17", "23"), ("1818", "24"), ("1903e8", "1000"), ("1bffffffffffffffff", "18446744073709551615"),
        ("c249010000000000000000", "2(h'010000000000000000')"), ("3bffffffffffffffff", "-18446744073709551616"),
        ("20", "-1"), ("3903e7", "-1000"), ("f90000", "0.0"), ("f98000", "-0.0"), ("f93c00", "1.0"),
        ("fb3ff199999999999a", "1.1"), ("f93e00", "1.5"), ("f97bff", "65504.0"), ("fa47c35000", "100000.0"),
        ("f90001", "5.960464477539063e-08"), ("f90400", "6.103515625e-05"), ("f9c400", "-4.0"), ("f97c00", "Infinity"),
        ("f97e00", "NaN"), ("f9fc00", "-Infinity"), ("f4", "false"), ("f5", "true"), ("f6", "null"),
        ("f7", "undefined"),
        ("f0", "simple(16)"), ("f8ff", "simple(255)"), ("c11a514b67b0", "1(1363896240)"), ("40", "h''"),
        ("4401020304", "h'01020304'"), ("60", #""""#), ("6449455446", #""IETF""#), ("62225c", #""\"\\""#),
        ("62c3bc", #""ü""#), ("80", "[]"), ("8301820203820405", "[1, [2, 3], [4, 5]]"), ("a0", "{}"),
        ("a201020304", "{1: 2, 3: 4}"), ("a26161016162820203", #"{"a": 1, "b": [2, 3]}"#),
        ("5f42010243030405ff", "(_ h'0102', h'030405')"), ("7f657374726561646d696e67ff", #"(_ "strea", "ming")"#),
        ("9fff", "[_ ]"), ("9f018202039f0405ffff", "[_ 1, [2, 3], [_ 4, 5]]"),
        ("bf61610161629f0203ffff", #"{_ "a": 1, "b": [_ 2, 3]}"#), ("5fff", "''_"), ("7fff", #"""_"#),
    ]

    @Test("The examples of the RFC are written as it has them", arguments: examples)
    func writesExamples(hex: String, notation: String) throws {
        #expect(try CBORText.diagnostic(bytes(hex)) == notation)
    }

    @Test(
        "Each malformed form is refused",
        arguments: [
            ("", .ended), ("18", .ended), ("1901", .ended), ("5bffffffffffffffff00", .ended), ("62c3", .ended),
            ("81", .ended), ("9bffffffffffffffff", .ended), ("bbffffffffffffffff", .ended), ("a101", .ended),
            ("9f", .ended),
            ("bf", .ended), ("5f41", .ended), ("c0", .ended), ("f8", .ended), ("fb0000", .ended), ("0000", .trailing),
            ("1c", .reserved), ("3d", .reserved), ("5e", .reserved), ("fc", .reserved), ("1f", .indefinite),
            ("3f", .indefinite), ("df00", .indefinite), ("ff", .misplacedBreak), ("81ff", .misplacedBreak),
            ("bf00ff", .misplacedBreak), ("a1ff", .misplacedBreak), ("c0ff", .misplacedBreak), ("5f00ff", .chunk),
            ("5f6161ff", .chunk), ("7f4161ff", .chunk), ("5f5f4100ffff", .chunk), ("5f81ff", .chunk), ("f800", .simple),
            ("f81f", .simple), ("61ff", .text), ("7f61c361bcff", .text),
        ] as [(String, CBORText.Fault)]
    )
    func refuses(hex: String, fault: CBORText.Fault) throws {
        let bytes = try bytes(hex)
        #expect(throws: fault) { try CBORText.diagnostic(bytes) }
    }

    @Test("Items lie within each other as deep as the bound, and no deeper")
    func bound() throws {
        let deepest = [UInt8](repeating: 0x81, count: CBORText.deepest - 1) + [0]
        #expect(try CBORText.diagnostic(deepest).hasSuffix("[0" + String(repeating: "]", count: CBORText.deepest - 1)))
        #expect(throws: CBORText.Fault.depth) { try CBORText.diagnostic([0x81] + deepest) }
        let tags = [UInt8](repeating: 0xC1, count: 100_000)
        #expect(throws: CBORText.Fault.depth) { try CBORText.diagnostic(tags) }
    }

    @Test("The notation is no longer than the bound")
    func length() {
        let long = [0x5A, 0, 0x10, 0, 0] + [UInt8](repeating: 1, count: 1 << 20)
        #expect(throws: CBORText.Fault.length) { try CBORText.diagnostic(long) }
    }

    @Test("Of an item that was cut there is what came before")
    func beginning() throws {
        #expect(try CBORText.beginning(bytes("82016568656c")) == #"[1, "hel"…"#)
        #expect(try CBORText.beginning(bytes("8201ff")) == nil)
    }

    @Test("No bytes do harm, whatever they are")
    func random() {
        var state: UInt64 = 88_172_645_463_325_252
        for _ in 0..<20_000 {
            var bytes: [UInt8] = []
            for _ in 0..<24 {
                state ^= state << 13
                state ^= state >> 7
                state ^= state << 17
                bytes.append(UInt8(truncatingIfNeeded: state))
            }
            if let text = try? CBORText.diagnostic(bytes) { #expect(!text.isEmpty) }
        }
    }

    private func bytes(_ hex: String) throws -> [UInt8] { try #require(Base16.decode(hex)) }
}
