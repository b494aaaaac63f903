// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import Testing

@testable import DuplexTopics

@Suite("URLs of Redis")
struct RedisURLTests {
    @Test(
        "A URL says where, securely or not, and which database",
        arguments: [
            ("redis://cache", "cache:6379", 0), ("redis://cache:7000/3", "cache:7000", 3),
            ("REDISS://cache/", "tls://cache:6379", 0), ("redis://[::1]:7000", "[::1]:7000", 0),
            ("rediss://[fe80::1%25eth0]/1", "tls://[fe80::1%eth0]:6379", 1),
            ("unix:///run/redis.sock", "unix:/run/redis.sock", 0),
            ("redis+unix:///run/my%20redis?db=2", "unix:/run/my redis", 2), ("redis://cache:/", "cache:6379", 0),
        ]
    )
    func readsPlace(text: String, endpoint: String, database: Int) throws {
        let url = try RedisURL(text)
        #expect(url.endpoint.description == endpoint)
        #expect(url.database == database)
        #expect(url.credentials == nil)
        #expect(try RedisURL(url.description.replacing("%eth0", with: "%25eth0").replacing(" ", with: "%20")) == url)
    }

    @Test(
        "User and password are read, percent-decoded",
        arguments: [
            ("redis://me:secret@cache", "me", "secret"), ("redis://:secret@cache", "default", "secret"),
            ("redis://a%40b:p%3A%2F%40%25@cache", "a@b", "p:/@%"), ("redis://me:a:b@cache", "me", "a:b"),
            ("redis://me:@cache", "me", ""), ("redis+unix://me:secret@/run/redis.sock", "me", "secret"),
            ("redis://me:se@cret@cache", "me", "se@cret"),
        ]
    )
    func readsCredentials(text: String, user: String, password: String) throws {
        let url = try RedisURL(text)
        #expect(url.credentials == RedisURL.Credentials(user: user, password: password))
        #expect(password.isEmpty || !url.description.contains(password))
    }

    @Test(
        "What can't be used is refused, without showing the password",
        arguments: [
            "", "cache", "redis:cache", "http://me:secret@cache", "secret", "redis://", "redis://me:secret@",
            "redis:///1",
            "redis://me:sec/ret@cache", "redis://me:secret@cache:x", "redis://me:secret@cache:0",
            "redis://me:secret@cache:65536",
            "redis://me:secret@cache/a", "redis://me:secret@cache/1/2", "redis://me:secret@cache/-1",
            "redis://me:secret@cache?db=1",
            "redis://me:%zz@cache", "redis://secret@cache", "redis://me:secret@a,b", "redis://me:secret@::1",
            "redis://me:secret@[::1", "redis://me:secret@[::1]x", "redis://me:secret@[cache]",
            "unix://me:secret@host/run/x",
            "unix:///", "unix://", "unix:///run/x?db=", "unix:///run/x?db=a", "unix:///run/x#1",
            "redis://me:secret@ca%20che",
        ]
    )
    func refuses(text: String) {
        let error = #expect(throws: TopicError.self) { try RedisURL(text) }
        #expect(error?.code == .invalidURL)
        #expect(error?.message.contains("secret") == false)
        #expect(error?.message.contains("sec/") == false)
    }

    @Test("A URL may be a literal, and be used for another place")
    func movesElsewhere() {
        let url: RedisURL = "rediss://me:secret@cache:7000/4"
        let other = RedisURL(url, at: "node", port: 7_001)
        #expect(other.endpoint.description == "tls://node:7001")
        #expect(other.credentials == url.credentials)
        #expect(other.database == 4)
    }
}
