// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import FuzzSupport

@testable import DuplexWire

/// All that a parser tells of one form.
struct Outcome: Equatable {
    var heads: [MultipartHead] = []
    var contents: [[UInt8]] = []
    var ended = 0
    var error: HTTPProtocolError?

    /// How much is told before a fault depends on the pieces, and so does which of two limits is met first.
    static func == (one: Outcome, other: Outcome) -> Bool {
        guard one.error?.code == other.error?.code else { return false }
        if one.error != nil { return true }
        return one.heads == other.heads && one.contents == other.contents && one.ended == other.ended
    }
}

/// Called by libFuzzer for each input.
///
/// Of the options, bit 0 chooses a form of pairs, bit 1 tight limits, bit 2 a boundary of one dash.
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    guard let input = unsafe FuzzInput(start, count) else { return 0 }
    if input.options & 1 != 0 {
        checkItems(String(decoding: input.bytes, as: UTF8.self))
        return 0
    }
    let tight = MultipartLimits(partCount: 2, partSize: 8, totalSize: 12, headSize: 64, headFields: 2)
    let limits = input.options & 2 != 0 ? tight : MultipartLimits()
    let type = MediaType(rawValue: "multipart/form-data; boundary=\(input.options & 4 != 0 ? "-" : "b")")
    let outcome = sameInEverySplit(input) { parse($0, limits, type) }
    require(outcome.heads.count <= limits.partCount, "there are more parts than allowed")
    require(outcome.error != nil || outcome.ended == outcome.heads.count, "a part hasn't ended")
    for content in outcome.contents {
        require(outcome.error != nil || content.count <= limits.partSize.bytes, "a part is longer than allowed")
    }
    for head in outcome.heads { check(head) }
    return 0
}

private func parse(_ pieces: [[UInt8]], _ limits: MultipartLimits, _ type: MediaType) -> Outcome {
    var outcome = Outcome()
    do throws(HTTPProtocolError) {
        var parser = try MultipartParser(type, limits: limits)
        for piece in pieces {
            var position = 0
            while let event = try parser.next(piece.span, from: &position) {
                switch event {
                case .begin(let head):
                    outcome.heads.append(head)
                    outcome.contents.append([])
                case .piece(let bytes):
                    require(!bytes.isEmpty && outcome.ended < outcome.contents.count, "a piece of nothing")
                    outcome.contents[outcome.contents.count - 1] += bytes
                case .end: outcome.ended += 1
                }
            }
            require(position == piece.count, "bytes of a form were left")
        }
        try parser.finish()
    } catch {
        outcome.error = error
    }
    return outcome
}

/// A file's name leads nowhere but into the folder that the app chooses.
private func check(_ head: MultipartHead) {
    guard let name = head.disposition?.safeFilename else { return }
    require(!name.isEmpty && name != "." && name != "..", "\(name) is no name of a file")
    require(!name.contains("/") && !name.contains("\\") && !name.utf8.contains(0), "\(name) is a path")
}

private func checkItems(_ query: String) {
    guard let items = QueryItems(query) else { return }
    require(items.count <= query.utf8.count { $0 == UInt8(ascii: "&") } + 1, "there are more items than are cut")
    for item in items { require(items[item.name] != nil, "\(item.name) isn't found") }
}
