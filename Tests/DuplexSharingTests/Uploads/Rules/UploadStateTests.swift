// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import HTTPTypes
import Testing

@testable import DuplexSharing
@testable import DuplexWire

@Suite("What a request may do to an upload")
struct UploadStateTests {
    private static let type = UploadProtocol.contentType

    private static func headers(_ values: KeyValuePairs<HTTPField.Name, String>) -> HTTPFields {
        var headers = HTTPFields()
        for (name, value) in values { headers[name] = value }
        return headers
    }

    private static func status(_ body: () throws -> Void) -> Int? {
        do { try body() } catch { return (error as? UploadRefusal)?.status.code }
        return nil
    }

    // MARK: Creating

    @Test("An upload begins with its length, or with the word that it comes later")
    func creation() throws {
        let plain = try UploadCreation([UploadProtocol.length: "5"], bodyLength: 0, maximum: 5)
        #expect(plain.length == 5 && !plain.hasContent && plain.concatenation == .none)
        let deferred = try UploadCreation([UploadProtocol.deferred: "1"], bodyLength: 0, maximum: 5)
        #expect(deferred.length == nil)
        let filled = Self.headers([UploadProtocol.length: "5", .contentType: Self.type])
        #expect(try UploadCreation(filled, bodyLength: nil, maximum: 5).hasContent)
        let final = try UploadCreation([UploadProtocol.concatenation: "final;/a"], bodyLength: 0, maximum: 5)
        #expect(final.concatenation == .final(["/a"]) && final.length == nil)
    }

    @Test(
        "What can't begin",
        arguments: [
            ([:], 0, 400), ([UploadProtocol.length: "x"], 0, 400), ([UploadProtocol.length: "6"], 0, 413),
            ([UploadProtocol.deferred: "0"], 0, 400),
            ([UploadProtocol.length: "1", UploadProtocol.deferred: "1"], 0, 400),
            ([UploadProtocol.length: "1", UploadProtocol.deferred: "0"], 0, 400),
            ([UploadProtocol.length: "1", UploadProtocol.metadata: "a a a"], 0, 400),
            ([UploadProtocol.length: "1", UploadProtocol.concatenation: "both"], 0, 400),
            ([UploadProtocol.length: "1", UploadProtocol.concatenation: "final;/a"], 0, 400),
            ([UploadProtocol.concatenation: "final;/a", .contentType: UploadProtocol.contentType], 1, 400),
            ([UploadProtocol.length: "1"], 1, 415),
            ([UploadProtocol.length: "1", .contentType: "text/plain"], nil, 415),
        ] as [(HTTPFields, Int?, Int)]
    )
    func refusedCreation(headers: HTTPFields, bodyLength: Int?, status: Int) {
        #expect(
            Self.status {
                _ = try UploadCreation(headers, bodyLength: bodyLength, maximum: 5)
            } == status
        )
    }

    // MARK: Appending

    private static func appending(
        _ values: KeyValuePairs<HTTPField.Name, String>,
        _ bodyLength: Int?,
        _ state: UploadState
    ) throws(UploadRefusal) -> UploadAppending {
        var headers = headers(values)
        if headers[.contentType] == nil { headers[.contentType] = type }
        return try UploadAppending(headers, bodyLength: bodyLength, to: state, maximum: 100)
    }

    private static func state(_ offset: UInt64, _ length: UInt64?) -> UploadState {
        UploadState(offset: offset, length: length, concatenation: .none)
    }

    @Test("Bytes go where the upload is, and there is room for what is missing")
    func room() throws {
        let appending = try Self.appending([UploadProtocol.offset: "3"], 7, Self.state(3, 10))
        #expect(appending.room == 7 && appending.length == 10 && appending.check == .none)
        #expect(try Self.appending([UploadProtocol.offset: "10"], 0, Self.state(10, 10)).room == 0)
        #expect(try Self.appending([UploadProtocol.offset: "3"], nil, Self.state(3, nil)).room == 97)
        let said = try Self.appending(
            [UploadProtocol.offset: "3", UploadProtocol.length: "9"],
            nil,
            Self.state(3, nil)
        )
        #expect(said.length == 9 && said.room == 6)
        let again = try Self.appending([UploadProtocol.offset: "3", UploadProtocol.length: "9"], nil, Self.state(3, 9))
        #expect(again.length == 9)
    }

    @Test("A checksum comes before the bytes, or is announced to come behind them")
    func checks() throws {
        let digest = "sha1 Kq5sNclPz7QV2+lfQIuc6R7oRu0="
        let before = try Self.appending(
            [UploadProtocol.offset: "0", UploadProtocol.checksum: digest],
            1,
            Self.state(0, 1)
        )
        #expect(before.check == .digest(try UploadChecksum(digest)))
        let behind = try Self.appending(
            [UploadProtocol.offset: "0", .trailer: "X-Other, Upload-Checksum"],
            nil,
            Self.state(0, 1)
        )
        #expect(behind.check == .trailer)
    }

    @Test("What can't be appended")
    func refused() {
        let cases: [(KeyValuePairs<HTTPField.Name, String>, Int?, UploadState, Int)] = [
            ([UploadProtocol.offset: "3", .contentType: "text/plain"], 1, Self.state(3, 10), 415),
            ([UploadProtocol.offset: "3", .contentEncoding: "gzip"], 1, Self.state(3, 10), 415),
            ([:], 1, Self.state(3, 10), 400), ([UploadProtocol.offset: "-3"], 1, Self.state(3, 10), 400),
            ([UploadProtocol.offset: "2"], 1, Self.state(3, 10), 409),
            ([UploadProtocol.offset: "4"], 1, Self.state(3, 10), 409),
            ([UploadProtocol.offset: "3"], 8, Self.state(3, 10), 413),
            ([UploadProtocol.offset: "3", UploadProtocol.length: "11"], 1, Self.state(3, 10), 400),
            ([UploadProtocol.offset: "3", UploadProtocol.length: "2"], 1, Self.state(3, nil), 400),
            ([UploadProtocol.offset: "3", UploadProtocol.length: "101"], 1, Self.state(3, nil), 413),
            ([UploadProtocol.offset: "3"], 98, Self.state(3, nil), 413),
            ([UploadProtocol.offset: "3", UploadProtocol.checksum: "sha9 a"], 1, Self.state(3, 10), 400),
            (
                [UploadProtocol.offset: "3"], 1,
                UploadState(offset: 3, length: 3, concatenation: .final(["/a"])), 403
            ),
        ]
        for (headers, bodyLength, state, status) in cases {
            #expect(
                Self.status { _ = try Self.appending(headers, bodyLength, state) } == status,
                "\(headers)"
            )
        }
    }

    @Test("HEAD tells how far it is, and what was said of it")
    func description() throws {
        let metadata = try #require(UploadMetadata("name YQ=="))
        var state = UploadState(offset: 3, length: nil, concatenation: .partial)
        #expect(!state.isWhole)
        #expect(
            state.headers(metadata)
                == [
                    .cacheControl: "no-store", UploadProtocol.offset: "3", UploadProtocol.deferred: "1",
                    UploadProtocol.metadata: "name YQ==", UploadProtocol.concatenation: "partial",
                ]
        )
        state = UploadState(offset: 3, length: 3, concatenation: .none)
        #expect(state.isWhole)
        #expect(
            state.headers(.none)
                == [.cacheControl: "no-store", UploadProtocol.offset: "3", UploadProtocol.length: "3"]
        )
    }
}
