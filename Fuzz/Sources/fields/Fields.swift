// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import FuzzSupport
import HTTPTypes

// Who checks credentials isn't public: servers do.
@testable import DuplexWire

/// Called by libFuzzer for each input.
///
/// The options choose what the bytes are taken for. Each value comes whole, so that the pieces don't matter.
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    guard let input = unsafe FuzzInput(start, count) else { return 0 }
    let value = String(decoding: input.bytes, as: UTF8.self)
    switch input.options & 7 {
    case 0: checkCredentials("Digest " + value)
    case 1: checkBasic("Basic " + value)
    case 2: checkCharsets(input.bytes)
    case 3: checkPreferences(value)
    case 4: checkDisposition(value)
    case 5: checkRanges(value)
    case 6: checkTags(value)
    default: checkTypes(value)
    }
    return 0
}

private func headers(_ name: HTTPField.Name, _ value: String) -> HTTPFields {
    [name: value]
}

/// Not a digest, but another text for each, and as long.
private func digest(_ algorithm: DigestAlgorithm, _ bytes: [UInt8]) -> [UInt8]? {
    var digest = [UInt8](repeating: 0, count: algorithm.length)
    for (index, byte) in bytes.enumerated() {
        digest[index % digest.count] = digest[index % digest.count] &* 31 &+ byte
    }
    return digest
}

private func checkCredentials(_ value: String) {
    guard let answer = DigestCredentials(value) else { return }
    require(answer.count > 0 && !answer.user.unicodeScalars.contains { $0.value < 0x20 }, "\(answer) is taken")
    if let head = try? RequestHead(method: .get, target: answer.target, version: .http10, headers: [:]) {
        require(answer.isFor(head), "an answer isn't for its own target")
    }
    _ = answer.isRight([1, 2, 3], method: "GET", digest)
    let line = answer.acknowledgement([1, 2, 3], digest) ?? ""
    require(!line.contains("\r") && !line.contains("\n"), "\(line.debugDescription) has a line break")
}

private func checkBasic(_ value: String) {
    guard let credentials = PasswordCredentials(basic: value) else { return }
    require(!credentials.user.contains(":"), "a name has a colon")
    guard let again = credentials.basicValue.flatMap({ PasswordCredentials(basic: $0) }) else { return }
    require(again == credentials, "credentials become others")
}

private func checkCharsets(_ bytes: [UInt8]) {
    for charset in Charset.allCases {
        guard let text = try? charset.decode(bytes) else { continue }
        require(text.unicodeScalars.count <= bytes.count, "\(charset) makes more of it")
        if charset == .ascii { require(Array(text.utf8) == bytes, "ASCII is changed") }
        if charset == .latin1 { require(text.unicodeScalars.map { UInt8($0.value) } == bytes, "Latin-1 is changed") }
    }
}

private func checkPreferences(_ value: String) {
    let types: [MediaType] = ["text/html", "application/json", "image/png"]
    let media = MediaPreferences(headers(.accept, value))
    let chosen = media.preferred(of: types)
    for type in types {
        require((0...1_000).contains(media.weight(of: type)), "a weight is out of range")
        require(media.weight(of: type) <= chosen.map { media.weight(of: $0) } ?? 0, "\(type) is wanted more")
    }
    let coding = CodingPreferences(headers(.acceptEncoding, value))
    let best = coding.preferred(of: ["gzip", "deflate", "identity"])
    require((best.map { coding.weight(of: $0) } ?? 1) > 0, "a coding isn't acceptable")
    let language = LanguagePreferences(headers(.acceptLanguage, value))
    require((language.preferred(of: ["en", "de-CH"]).map { language.weight(of: $0) } ?? 1) > 0, "nor is a language")
    if let applied = try? ContentCoding.applied(in: headers(.contentEncoding, value)) {
        require(applied.count <= ContentCoding.bound, "there are more codings than are taken off")
    }
}

private func checkDisposition(_ value: String) {
    _ = ExtendedText.decode(value)
    guard let disposition = ContentDisposition(field: value) else { return }
    let name = disposition.safeFilename ?? "a"
    require(!name.isEmpty && name != "." && name != ".." && !name.contains("/"), "\(name) is no name of a file")
    let sent = ContentDisposition.attachment(filename: disposition.filename)
    require(!sent.description.contains("\r") && !sent.description.contains("\n"), "\(sent) has a line break")
}

private func checkRanges(_ value: String) {
    guard let ranges = ByteRanges(headers(.range, value)) else { return }
    for length: UInt64 in [0, 1, 1_000, .max] {
        if case .parts(let parts) = ranges.selection(of: length) {
            require(!parts.isEmpty && parts.count <= ByteRanges.bound, "\(parts.count) parts")
            require(parts.allSatisfy { !$0.isEmpty && $0.upperBound <= length }, "a part is beyond the end")
        }
    }
}

private func checkTags(_ value: String) {
    if let tag = EntityTag(field: value) {
        require(EntityTag(field: tag.description) == tag, "a tag becomes another")
    }
    var all: HTTPFields = [:]
    all[.ifMatch] = value
    all[.ifNoneMatch] = value
    all[.ifModifiedSince] = value
    all[.ifRange] = value
    let now = UnixTime(seconds: 1_000_000_000)
    let content = Preconditions.Validators(tag: EntityTag("a"), modified: now)
    _ = Preconditions(.get, all, now: now).verdict(content)
    _ = Preconditions.allowsRange(all, content, now: now)
}

private func checkTypes(_ value: String) {
    let type = MediaType(rawValue: value)
    require(type.parameters.count <= MediaType.parameterBound, "there are too many parameters")
    if type.essence != nil {
        require(type.matches(type) || type.essence?.contains("*") == true, "\(value) isn't itself")
    }
    _ = try? Charset(of: type)
    _ = try? MultipartParser(type)
}
