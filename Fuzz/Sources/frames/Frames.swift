// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import FuzzSupport

@testable import DuplexWire

/// What came of a row of frames.
struct Outcome: Equatable {
    var headers: [FrameHeader] = []
    var error: WebSocketProtocolError?
    /// What is missing of the last frame's payload.
    var missing: UInt64 = 0
    var isMidHeader = false
}

/// Called by libFuzzer for each input.
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    guard let input = unsafe FuzzInput(start, count) else { return 0 }
    let outcome = sameInEverySplit(input, parse: frames)
    var position = 0
    for header in outcome.headers {
        let bytes = written(header)
        // A length has one shortest form, and no other is taken, so writing the header gives the bytes that were read.
        require(input.bytes[position...].starts(with: bytes), "\(header) was read, which would be written as \(bytes)")
        require(header.payloadLength <= UInt64(Int64.max), "a length doesn't fit 63 bits")
        position += bytes.count + Int(min(header.payloadLength, UInt64(input.bytes.count - position - bytes.count)))
    }
    require(outcome.error != nil || outcome.isMidHeader || position == input.bytes.count, "bytes were left")
    return 0
}

private func frames(_ pieces: [[UInt8]]) -> Outcome {
    var outcome = Outcome()
    var parser = FrameHeaderParser()
    for piece in pieces {
        var position = 0
        do throws(WebSocketProtocolError) {
            while position < piece.count {
                let skipped = Int(min(outcome.missing, UInt64(piece.count - position)))
                position += skipped
                outcome.missing -= UInt64(skipped)
                // Any byte may be read as raw bytes.
                guard let header = try parser.parse(unsafe piece.span.bytes, from: &position) else { continue }
                outcome.headers.append(header)
                outcome.missing = header.payloadLength
            }
        } catch {
            outcome.error = error
            return outcome
        }
        require(position == piece.count, "part of a piece was left")
    }
    outcome.isMidHeader = parser.isMidHeader
    return outcome
}

private func written(_ header: FrameHeader) -> [UInt8] {
    unsafe withUnsafeTemporaryAllocation(byteCount: FrameHeader.maximumSize, alignment: 1) { block in
        var output = unsafe OutputRawSpan(buffer: block, initializedCount: 0)
        header.write(into: &output)
        let count = unsafe output.finalize(for: block)
        return unsafe Array(block.prefix(count))
    }
}
