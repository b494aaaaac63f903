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
        #expect(secrets.masking("postgres://app:hush@db:5432/a") == "postgres://app:••••••@db:5432/a")
        #expect(secrets.masking("a redis://:hush@h b http://u:p@h/") == "a redis://:••••••@h b http://u:••••••@h/")
        #expect(secrets.masking("http://host:80/a@b") == "http://host:80/a@b")
        #expect(secrets.masking("no URL: a:b@c") == "no URL: a:b@c")
        #expect(secrets.masking("http://u:p@ss@h/x") == "http://u:••••••@h/x")
    }

    @Test(
        "So are items of queries and of fragments whose names are those of secrets",
        arguments: [
            ("https://h/p?a=1&api_key=hush&b=2", "https://h/p?a=1&api_key=••••••&b=2"),
            ("/cb#access_token=hush&x=1", "/cb#access_token=••••••&x=1"), ("?t%6Fken=hush", "?t%6Fken=••••••"),
            ("Server=h;Password=hush;X=1", "Server=h;Password=••••••;X=1"), ("a=1 b=2", "a=1 b=2"),
            ("https://h/?q=token", "https://h/?q=token"),
        ]
    )
    func items(text: String, expected: String) {
        #expect(secrets.masking(text) == expected)
        #expect(SecretNames(showsSecrets: true).masking(text) == text)
    }

    @Test("Arguments are masked behind their option's name")
    func arguments() {
        let masked = secrets.masking(["app", "--token=abc", "--password", "hush", "--port", "80", "--key", "-abc"])
        #expect(masked == ["app", "--token=••••••", "--password", "••••••", "--port", "80", "--key", "••••••"])
        #expect(secrets.masking(["-H", "Authorization: Bearer x"]) == ["-H", "••••••"])
        #expect(secrets.masking(["--db", "http://u:p@h/"]) == ["--db", "http://u:••••••@h/"])
    }
}
