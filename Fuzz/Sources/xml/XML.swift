// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import FuzzSupport

// WebDAV reads XML, and nobody else.
@testable import DuplexSharing
@testable import DuplexWire

/// All that came of one document.
struct Outcome: Equatable {
    var element: XMLElement?
    var error: XMLError.Code?
}

/// Called by libFuzzer for each input.
///
/// Of the options, bit 0 chooses tight limits.
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    guard let input = unsafe FuzzInput(start, count) else { return 0 }
    let tight = XMLLimits(bytes: 200, depth: 3, elements: 5, attributes: 2, name: 20)
    let limits = input.options & 1 != 0 ? tight : XMLLimits()
    let outcome = sameInEverySplit(input) { pieces in
        var outcome = Outcome()
        do throws(XMLError) {
            let reader = XMLReader(limits)
            for piece in pieces { try reader.append(piece) }
            outcome.element = try reader.finish()
        } catch {
            // Which of two faults is met first depends on the pieces.
            outcome.error = .malformed
        }
        return outcome
    }
    guard let element = outcome.element else { return 0 }
    var size = Size()
    size.add(element, depth: 1)
    require(size.depth <= limits.depth && size.elements <= limits.elements, "\(size) is read")
    require(size.attributes <= limits.attributes && input.bytes.count <= limits.bytes, "\(size) is read")
    checkWriting(element)
    return 0
}

/// How much a document has.
private struct Size {
    var depth = 0
    var elements = 0
    var attributes = 0

    mutating func add(_ element: XMLElement, depth: Int) {
        self.depth = max(self.depth, depth)
        elements += 1
        attributes = max(attributes, element.attributes.count)
        for case .element(let child) in element.children { add(child, depth: depth + 1) }
    }
}

/// What is written is read as it was.
private func checkWriting(_ element: XMLElement) {
    var writer = XMLWriter()
    writer.add(element)
    let limits = XMLLimits(bytes: .max, depth: .max, elements: .max, attributes: .max, name: .max)
    do {
        let again = try XMLReader.element(of: Array(writer.text.utf8), limits)
        require(sameContent(again, element), "\(writer.text.debugDescription) was another")
    } catch {
        fatalError("\(writer.text.debugDescription) can't be read: \(error)")
    }
}

/// Prefixes may be others: what counts is what they stand for.
private func sameContent(_ one: XMLElement, _ other: XMLElement) -> Bool {
    let pairs = { (element: XMLElement) in Set(element.attributes.map { [$0.name.namespace, $0.name.local, $0.value] })
    }
    guard one.name == other.name, pairs(one) == pairs(other), one.children.count == other.children.count else {
        return false
    }
    return zip(one.children, other.children).allSatisfy { pair in
        switch pair {
        case (.text(let first), .text(let second)): first == second
        case (.element(let first), .element(let second)): sameContent(first, second)
        default: false
        }
    }
}
