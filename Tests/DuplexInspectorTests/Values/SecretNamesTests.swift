// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexInspector

@Suite("Secrets by their names")
struct SecretNamesTests {
    private let secrets = SecretNames()

    @Test(
        "Names of secrets",
        arguments: [
            ("API_TOKEN", true), ("dbPassword", true), ("AWS_SECRET_ACCESS_KEY", true), ("apiKey", true), ("PIN", true),
            ("user-pin", true), ("mapping", false), ("HOME", false), ("PATH", false), ("Cookie", true), ("SALT", true),
            ("Authorization", true),
        ]
    )
    func names(name: String, isSecret: Bool) {
        #expect(secrets.isSecret(name) == isSecret)
        #expect(!SecretNames(showsSecrets: true).isSecret(name))
    }

    @Test("Passwords in URLs are masked, whatever the name is")
    func urls() {
        #expect(secrets.maskingURLs("postgres://app:hush@db:5432/a") == "postgres://app:••••••@db:5432/a")
        #expect(secrets.maskingURLs("a redis://:hush@h b http://u:p@h/") == "a redis://:••••••@h b http://u:••••••@h/")
        #expect(secrets.maskingURLs("http://host:80/a@b") == "http://host:80/a@b")
        #expect(secrets.maskingURLs("no URL: a:b@c") == "no URL: a:b@c")
    }

    @Test("Arguments are masked behind their option's name")
    func arguments() {
        let masked = secrets.masking(["app", "--token=abc", "--password", "hush", "--port", "80", "--key", "-abc"])
        #expect(masked == ["app", "--token=••••••", "--password", "••••••", "--port", "80", "--key", "••••••"])
        #expect(secrets.masking(["-H", "Authorization: Bearer x"]) == ["-H", "••••••"])
        #expect(secrets.masking(["--db", "http://u:p@h/"]) == ["--db", "http://u:••••••@h/"])
    }
}
