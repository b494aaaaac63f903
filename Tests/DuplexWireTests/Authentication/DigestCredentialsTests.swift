// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import HTTPTypes
import Testing

@Suite("Answers to Digest, as a server reads them")
struct DigestCredentialsTests {
    /// RFC 7616 section 3.9.1.
    private static func example(_ algorithm: String, _ response: String) -> String {
        "Digest username=\"Mufasa\", realm=\"http-auth@example.org\", uri=\"/dir/index.html\", algorithm=\(algorithm), "
            + "nonce=\"7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v\", nc=00000001, "
            + "cnonce=\"f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ\", qop=auth, response=\"\(response)\", "
            + "opaque=\"FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS\""
    }

    private static let md5 = example("MD5", "8ca523f5e9506fed4657c9700eebdbec")
    private static let sha256 = example("SHA-256", "753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1")

    private func isRight(_ value: String, method: String = "GET") throws -> Bool {
        let answer = try #require(DigestCredentials(value))
        let secret = DigestSecret.password("Circle of Life")
        let hash = secret.hash(user: answer.user, realm: answer.realm, answer.algorithm, sampleDigest)
        return answer.isRight(try #require(hash), method: method, sampleDigest)
    }

    @Test("The examples of RFC 7616 are right, for their method, target, count and password", arguments: [md5, sha256])
    func examples(value: String) throws {
        #expect(try isRight(value))
        #expect(try !isRight(value, method: "HEAD"))
        #expect(try !isRight(value.replacing("/dir/index.html", with: "/dir/other.html")))
        #expect(try !isRight(value.replacing("nc=00000001", with: "nc=00000002")))
        #expect(try !isRight(value.replacing("cnonce=\"f2", with: "cnonce=\"f3")))
        #expect(try !isRight(value.replacing("Mufasa", with: "mufasa")))
        #expect(try !isRight(value.replacing("http-auth@", with: "auth@")))
        let answer = try #require(DigestCredentials(value))
        #expect(answer.count == 1 && answer.target == "/dir/index.html" && !answer.hasHashedUser)
        #expect(answer.opaque == "FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS")
    }

    @Test("What is quoted and what isn't doesn't matter, nor do the case of names, blanks and empty members")
    func forms() throws {
        let bare = Self.md5.replacing("nc=00000001", with: "NC = \"00000001\"")
            .replacing("qop=auth", with: "qop=\"AUTH\"")
        #expect(try isRight(bare.replacing("algorithm=MD5", with: ",, algorithm=\"md5\" ,")))
        #expect(try isRight(Self.md5.replacing("Digest ", with: "dIGEST   ")))
        #expect(
            try isRight(Self.md5.replacing(", algorithm=MD5", with: "")),
            "MD5 is what is meant when nothing is said"
        )
        // An escaped letter is that letter.
        #expect(try isRight(Self.md5.replacing("\"Mufasa\"", with: "\"Muf\\asa\"")))
        let response = "8ca523f5e9506fed4657c9700eebdbec"
        #expect(try isRight(Self.md5.replacing(response, with: response.uppercased())))
        #expect(try isRight(Self.md5 + ", unknown=\"a, response=b\""))
    }

    @Test("Without one of its parameters an answer is none")
    func missing() {
        let parts = Self.md5.dropFirst(7).split(separator: ", ").map(String.init)
        for (index, part) in parts.enumerated() {
            var others = parts
            others.remove(at: index)
            let answer = DigestCredentials("Digest " + others.joined(separator: ", "))
            let isOptional = part.hasPrefix("algorithm") || part.hasPrefix("opaque")
            #expect((answer != nil) == isOptional, "without \(part)")
            // Of two of a kind nobody knows which one counts.
            #expect(DigestCredentials("Digest " + (parts + [part]).joined(separator: ", ")) == nil, "twice \(part)")
            #expect(DigestCredentials("Digest " + (parts + [part.uppercased()]).joined(separator: ", ")) == nil)
        }
    }

    @Test("Cut short anywhere, an answer is none")
    func cut() {
        let optional = Self.md5.utf8.count - ", opaque=\"FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS\"".utf8.count
        for count in 0..<Self.md5.utf8.count {
            let isWhole = (optional...optional + 2).contains(count)
            #expect((DigestCredentials(String(Self.md5.prefix(count))) != nil) == isWhole, "\(count)")
        }
    }

    @Test(
        "What is malformed is no answer",
        arguments: [
            ("Digest ", "Basic "), ("Digest ", "Digest Digest "), ("Digest ", "Digest TWlh, "),
            ("nc=00000001", "nc=1"), ("nc=00000001", "nc=000000001"), ("nc=00000001", "nc=0000000g"),
            ("nc=00000001", "nc=00000000"), ("nc=00000001", "nc=-0000001"), ("nc=00000001", "nc=0x000001"),
            ("qop=auth", "qop=auth-int"), ("qop=auth", "qop=\"auth, auth-int\""), ("qop=auth", "qop=\"\""),
            ("=MD5", "=MD5-sess"), ("=MD5", "=SHA-1"), ("=MD5", "=SHA-256"), ("=MD5", "=\"\""),
            ("bdbec\"", "bdbe\""), ("bdbec\"", "bdbec00\""), ("bdbec\"", "bdbeg\""), ("bdbec\"", "bdbec"),
            ("\"Mufasa\"", "\"Muf\u{1}asa\""), ("\"Mufasa\"", "\"Muf\tasa\""), ("\"Mufasa\"", "Muf asa"),
            ("\"Mufasa\"", "\"Mufasa\", username*=UTF-8''Mufasa"), ("username=", "user="),
            ("opaque=\"FQ", "opaque=\"\u{7F}FQ"), ("qop=auth", "qop=auth; x=y"),
            ("qop=auth", "qop=auth, Basic TWlhOm8="),
            ("cnonce=\"f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ\"", "cnonce=\"\""),
        ]
    )
    func malformed(part: String, other: String) {
        #expect(Self.md5.contains(part))
        #expect(DigestCredentials(Self.md5.replacing(part, with: other)) == nil)
    }

    @Test("The name of a user comes plain, extended or hashed, and in no other form")
    func users() throws {
        let named = { (user: String) in DigestCredentials(Self.md5.replacing("username=\"Mufasa\"", with: user)) }
        #expect(named("username*=UTF-8''J%C3%A4s%20%C3%B8")?.user == "Jäs ø")
        #expect(named("username=\"Jäs \\\"ø\\\"\"")?.user == "Jäs \"ø\"")
        let hashed = try #require(named("username=\"00FF\", userhash=true"))
        #expect(hashed.user == "00ff" && hashed.hasHashedUser)
        #expect(named("username=\"00FF\", userhash=false")?.hasHashedUser == false)
        for user in [
            "username*=UTF-8''%0A", "username*=UTF-16''a", "username*=Mufasa", "username*=UTF-8''a, userhash=true",
            "username*=UTF-8''%zz",
        ] {
            #expect(named(user) == nil, "\(user)")
        }
    }

    @Test(
        "An answer is for the target that it was made for, also where a proxy makes a path of a URL",
        arguments: [
            ("/dir/index.html", true), ("http://example.org/dir/index.html", true), ("/dir/index.html?", false),
            ("http://other.org/dir/index.html", false), ("/dir/./index.html", false), ("/dir//index.html", false),
            ("/dir/index%2Ehtml", false), ("/DIR/index.html", false), ("/dir/index.html?a=b", false), ("*", false),
            ("", false),
        ]
    )
    func targets(target: String, isFor: Bool) throws {
        let headers = HTTPFields([HTTPField(name: try #require(HTTPField.Name("Host")), value: "example.org")])
        let head = try RequestHead(method: .get, target: "/dir/index.html", headers: headers)
        let answer = try #require(DigestCredentials(Self.md5.replacing("/dir/index.html", with: target)))
        #expect(answer.isFor(head) == isFor)
        // The other way around, where that can be asked for. A URL of another host is what such a request is for.
        guard !target.contains("other.org"),
            let other = try? RequestHead(method: .get, target: target, headers: headers)
        else { return }
        #expect(try #require(DigestCredentials(Self.md5)).isFor(other) == isFor)
    }

    @Test("The server's own proof is over the target without the method")
    func acknowledgement() throws {
        let answer = try #require(DigestCredentials(Self.md5))
        let proof = answer.acknowledgement([1, 2]) { _, bytes in Array(bytes.suffix(1)) }
        let cnonce = "f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ"
        #expect(proof == "rspauth=\"63\", cnonce=\"\(cnonce)\", nc=00000001, qop=auth")
        #expect(answer.acknowledgement([1]) { _, _ in nil } == nil)
    }
}

@Suite("What a server knows of a password")
struct DigestSecretTests {
    private static let md5 = "3d78807defe7de2157e2b0b6573a855f"

    private func hash(_ secret: DigestSecret, _ algorithm: DigestAlgorithm) -> [UInt8]? {
        secret.hash(user: "Mufasa", realm: "http-auth@example.org", algorithm, sampleDigest)
    }

    @Test("A password does for every algorithm, a hash for its own")
    func hashes() throws {
        let secret: DigestSecret = "Circle of Life"
        #expect(secret == .password("Circle of Life") && secret.algorithm == nil)
        #expect(hash(secret, .md5).map { Base16.encode($0) } == Self.md5)
        #expect(hash(secret, .sha256)?.count == 32)
        let kept = try #require(DigestSecret(hash: Self.md5.uppercased(), .md5))
        #expect(hash(kept, .md5) == hash(secret, .md5) && kept.algorithm == .md5)
        #expect(hash(kept, .sha256) == nil)
    }

    @Test("What no digest can be isn't taken", arguments: ["", "3d78", md5 + "00", String(md5.dropLast()) + "g"])
    func malformed(text: String) {
        #expect(DigestSecret(hash: text, .md5) == nil)
        #expect(DigestSecret(hash: Self.md5, .sha256) == nil)
    }

    @Test("Neither is shown")
    func hidden() {
        #expect("\(DigestSecret.password("tell me"))" == "secret (hidden)")
    }
}
