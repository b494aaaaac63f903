// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexServer

@Suite struct RouterTests {
    private func router(_ paths: String...) -> Router<String> {
        var router = Router<String>()
        for path in paths { router.update(path) { $0 = path } }
        return router
    }

    @Test(
        "A path leads where it was told to, and nowhere else",
        arguments: [
            ("/", "/"), ("/a", "/a"), ("/a/b", "/a/b"), ("/a/", nil), ("/b", nil), ("/a/b/c", nil), ("//", nil),
            ("/A", nil),
            ("/%61", "/a"), ("/a%2Fb", nil), ("/%zz", nil), ("/%ff", nil), ("*", nil), ("", nil),
        ] as [(String, String?)]
    )
    func exactPaths(path: String, value: String?) {
        #expect(router("/", "/a", "/a/b").match(path)?.value == value)
    }

    @Test(
        "Parameters stand for one segment each, decoded",
        arguments: [
            ("/hello/you", ["you"]), ("/hello/J%C3%BCrgen%20%2F%3F", ["Jürgen /?"]), ("/hello/", nil), ("/hello", nil),
            ("/hello/a/b", nil), ("/from/a/to/b", ["a", "b"]), ("/from/a/to/", nil), ("/hello/:name", [":name"]),
        ] as [(String, [String]?)]
    )
    func parameters(path: String, arguments: [String]?) {
        #expect(router("/hello/:name", "/from/:here/to/:there").match(path)?.arguments == arguments)
    }

    @Test(
        "A text comes before a parameter and a parameter before a star, and what leads nowhere is taken back",
        arguments: [
            ("/a/b", "/a/b"), ("/a/x", "/a/:p"), ("/a/x/y", "/a/*"), ("/a", "/a/*"), ("/a/", "/a/*"),
            ("/a/b/c", "/a/b/c"),
            ("/a/b/d", "/a/:p/d"), ("/a/b/e", "/a/*"), ("/z", "/*"), ("/", "/*"),
        ]
    )
    func precedence(path: String, value: String) {
        let router = router("/a/b", "/a/:p", "/a/*", "/*", "/a/b/c", "/a/:p/d")
        #expect(router.match(path)?.value == value)
    }

    @Test("What was tried and taken back leaves no argument behind")
    func arguments() {
        let match = router("/:a/:b/c", "/:a/*").match("/1/2/d")
        #expect(match?.value == "/:a/*")
        #expect(match?.arguments == ["1"])
    }

    @Test("A star alone is for every path, but not for the server as a whole")
    func star() {
        #expect(router("*").match("/anything/at/all")?.value == "*")
        #expect(router("*").match("*") == nil)
        #expect(router("/:name").match("*") == nil)
    }

    @Test("A path that was there before is changed, not doubled")
    func updating() {
        var router = router("/:a")
        router.update("/:b") { $0 = ($0 ?? "") + " again" }
        #expect(router.match("/1")?.value == "/:a again")
        #expect(!router.isEmpty)
        #expect(Router<Int>().isEmpty)
    }

    @Test("The names of a path's parameters come in their order")
    func names() throws {
        #expect(try Router<Int>.parameters(of: "/from/:here/to/:there/*", "") == ["here", "there"])
        #expect(try Router<Int>.parameters(of: "*", "").isEmpty)
    }
}

extension RouterTests {
    @Test("A path that leads nowhere is an error that names the route", arguments: ["users", "", "/a/*/b", "*/b"])
    func badPaths(path: String) {
        #expect {
            try Router<Int>.parameters(of: path, "GET \(path)")
        } throws: { error in
            let error = error as? RouteError
            return error?.code == .badPath && error?.route == "GET \(path)"
        }
    }

    @Test("Plain paths have neither parameters nor stars nor anything encoded")
    func plain() {
        #expect(Router<Int>.isPlain("/a/b") && Router<Int>.isPlain("/"))
        for path in ["/:a", "/a/*", "*", "/a%20b"] { #expect(!Router<Int>.isPlain(path)) }
    }
}

extension Router.Match: Equatable where Value: Equatable {
    static func == (left: Self, right: Self) -> Bool {
        left.value == right.value && left.arguments == right.arguments
    }
}
