// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexTestTimes
import DuplexTesting
import DuplexWire
import HTTPTypes
import Testing

@testable import DuplexSharing

@Suite("What the uploader's API changes", .timeLimit(minutes: 1))
struct UploaderChangingTests {
    private static let files = ["a.txt": "a", "b/c.txt": "c", "b/d/e": "e", "f/a.txt": "other", ".hidden": "x"]

    // MARK: Folders and names

    @Test("A folder is made where there is nothing, and a folder for it")
    func create() async throws {
        try await UploaderFixture.run(Self.files) { uploader async throws in
            let answer = try await uploader.change("create", "{'path':'b/new ü'}")
            #expect(answer == [.init(path: "b/new ü", replaced: false)])
            #expect(try await uploader.list("?path=b/new%20%C3%BC").entries == [])
            #expect(try await uploader.code("create", "{'path':'b'}") == 409)
            #expect(try await uploader.code("create", "{'path':'a.txt'}") == 409)
            #expect(try await uploader.code("create", "{'path':'none/new'}") == 409)
            #expect(try await uploader.code("create", "{'path':''}") == 403)
            #expect(try await uploader.code("create", "{'path':'.new'}") == 404)
        }
    }

    @Test("A rename leaves a thing where it is, and takes no name that is taken")
    func rename() async throws {
        try await UploaderFixture.run(Self.files) { uploader async throws in
            let answer = try await uploader.change("rename", "{'path':'b/c.txt','name':'ü.txt'}")
            #expect(answer == [.init(from: "b/c.txt", path: "b/ü.txt", replaced: false)])
            #expect(uploader.text("b/ü.txt") == "c" && uploader.text("b/c.txt") == nil)
            #expect(try await uploader.code("rename", "{'path':'a.txt','name':'b'}") == 409)
            #expect(try await uploader.code("rename", "{'path':'none','name':'x'}") == 404)
            #expect(try await uploader.code("rename", "{'path':'','name':'x'}") == 403)
            for name in ["", "x/y", "..", ".", ".duplex", "\\u0000", String(repeating: "x", count: 256)] {
                #expect(try await uploader.code("rename", "{'path':'a.txt','name':'\(name)'}") == 403, "\(name)")
            }
            #expect(try await uploader.code("rename", "{'path':'a.txt','name':'.x'}") == 404)
            #expect(try uploader.names == [".hidden", "a.txt", "b", "f"])
        }
    }

    // MARK: Moves and copies

    @Test("Several go into a folder at once; what is there already stays")
    func move() async throws {
        try await UploaderFixture.run(Self.files) { uploader async throws in
            let answer = try await uploader.change("move", "{'from':['a.txt','f'],'to':'b/d'}")
            #expect(answer.map(\.path) == ["b/d/a.txt", "b/d/f"])
            #expect(uploader.text("b/d/f/a.txt") == "other" && uploader.text("a.txt") == nil)
            #expect(try await uploader.code("move", "{'from':['b/c.txt'],'to':'b'}") == 409)
            #expect(try await uploader.code("move", "{'from':['b/c.txt'],'to':'b','clash':'number'}") == 403)
            #expect(uploader.text("b/c.txt") == "c")
        }
    }

    @Test("Where names are taken, a move does nothing, replaces, or numbers", arguments: NameConflict.allCases)
    func clashes(conflict: NameConflict) async throws {
        try await UploaderFixture.run(Self.files) { uploader async throws in
            let body = "{'from':['b/d','a.txt'],'to':'f','clash':'\(conflict.rawValue)'}"
            switch conflict {
            case .refuse:
                #expect(try await uploader.code("move", body) == 409)
                #expect(uploader.text("b/d/e") == "e" && uploader.text("a.txt") == "a")
                #expect(uploader.text("f/a.txt") == "other")
            case .replace:
                let changed = try await uploader.change("move", body)
                #expect(changed.map(\.replaced) == [false, true])
                #expect(changed.map(\.path) == ["f/d", "f/a.txt"])
                #expect(uploader.text("f/a.txt") == "a" && uploader.text("a.txt") == nil)
            case .number:
                let changed = try await uploader.change("move", body)
                #expect(changed.map(\.path) == ["f/d", "f/a (1).txt"])
                #expect(changed.map(\.from) == ["b/d", "a.txt"])
                #expect(uploader.text("f/a.txt") == "other" && uploader.text("f/a (1).txt") == "a")
            }
        }
    }

    @Test("A copy leaves what it is of, and comes beside it with a number")
    func copy() async throws {
        try await UploaderFixture.run(Self.files) { uploader async throws in
            let beside = try await uploader.change("copy", "{'from':['b','a.txt'],'to':'','clash':'number'}")
            #expect(beside.map(\.path) == ["b (1)", "a (1).txt"])
            #expect(uploader.text("b (1)/d/e") == "e" && uploader.text("b/d/e") == "e")
            #expect(try await uploader.code("copy", "{'from':['b'],'to':''}") == 409)
            let into = try await uploader.change("copy", "{'from':['b/d/e'],'to':'f'}")
            #expect(into == [.init(from: "b/d/e", path: "f/e", replaced: false)])
        }
    }

    @Test("What can't be done is refused before anything is done", arguments: ["move", "copy"])
    func refused(name: String) async throws {
        try await UploaderFixture.run(Self.files) { uploader async throws in
            for (from, to, code) in [
                ("'a.txt','none'", "f", 404), ("'a.txt'", "none", 404), ("'b/c.txt'", "a.txt", 404),
                ("'f/a.txt','a.txt'", "b", 409), ("'b/c.txt','b/c.txt'", "f", 403), ("'b'", "b/d", 403),
                ("''", "b", 403), ("'.hidden'", "b", 404),
            ] {
                #expect(try await uploader.code(name, "{'from':[\(from)],'to':'\(to)'}") == code, "\(from) to \(to)")
            }
            let both = "{'from':['f/a.txt','a.txt'],'to':'b','clash':'replace'}"
            #expect(try await uploader.code(name, both) == 409, "the one would replace the other")
            #expect(try await uploader.code(name, "{'from':['a.txt'],'to':'b','clash':'other'}") == 400)
            #expect(try uploader.names == [".hidden", "a.txt", "b", "f"])
            #expect(uploader.text("a.txt") == "a" && uploader.text("b/a.txt") == nil && uploader.text("f/c.txt") == nil)
        }
    }

    @Test("A move of a folder and of what is in it says so")
    func nested() async throws {
        try await UploaderFixture.run(Self.files) { uploader async throws in
            #expect(try await uploader.code("move", "{'from':['b','b/d/e'],'to':'f'}") == 403)
            #expect(try await uploader.code("delete", "{'paths':['b','b/d/e']}") == 403)
            #expect(uploader.text("b/d/e") == "e")
        }
    }

    // MARK: The trash

    @Test("What is deleted is in the trash, and comes back from there")
    func trash() async throws {
        try await UploaderFixture.run(Self.files) { uploader async throws in
            let trashed = try await uploader.delete("{'paths':['a.txt','b']}")
            #expect(trashed.map(\.path) == ["a.txt", "b"] && uploader.text("a.txt") == nil)
            let items = try await uploader.trash
            #expect(Set(items.map(\.id)) == Set(trashed.map(\.id)))
            let file = try #require(items.first { $0.path == "a.txt" })
            #expect(file.kind == "file" && file.size == 1 && file.deleted.hasSuffix("Z"))
            let ids = trashed.map { "'\($0.id)'" }.joined(separator: ",")
            let restored = try await uploader.restore("{'ids':[\(ids)]}")
            #expect(restored.map(\.path) == ["a.txt", "b"] && restored.map(\.id) == trashed.map(\.id))
            #expect(uploader.text("a.txt") == "a" && uploader.text("b/d/e") == "e")
            #expect(try await uploader.trash == [])
            #expect(try await uploader.code("restore", "{'ids':[\(ids)]}") == 404)
            #expect(try await uploader.code("restore", "{'ids':['../..']}") == 404)
        }
    }

    @Test("What comes back has a number where another has its name; the trash can be emptied")
    func restoring() async throws {
        try await UploaderFixture.run(Self.files) { uploader async throws in
            let trashed = try await uploader.delete("{'paths':['a.txt']}")
            try await uploader.folder.createFolder(try #require(FolderPath("a.txt")))
            let id = try #require(trashed.first?.id)
            #expect(try await uploader.restore("{'ids':['\(id)']}").first?.path == "a (1).txt")
            _ = try await uploader.delete("{'paths':['b']}")
            #expect(try await uploader.post("empty", "").text == "{}\n")
            #expect(try await uploader.trash == [])
        }
    }

    @Test("What is deleted forever isn't in the trash")
    func forever() async throws {
        try await UploaderFixture.run(Self.files) { uploader async throws in
            let answer = try await uploader.delete("{'paths':['a.txt','b'],'forever':true}")
            #expect(answer.isEmpty)
            #expect(try uploader.names == [".hidden", "f"])
            #expect(try await uploader.trash == [])
            #expect(try await uploader.code("delete", "{'paths':['a.txt'],'forever':true}") == 404)
        }
    }

    @Test("Nothing is deleted where one of several isn't there")
    func deleteRefused() async throws {
        try await UploaderFixture.run(Self.files) { uploader async throws in
            for paths in ["'a.txt','none'", "'a.txt','a.txt'", "'a.txt',''", "'a.txt','.hidden'"] {
                #expect(try await uploader.code("delete", "{'paths':[\(paths)]}") >= 403, "\(paths)")
                #expect(uploader.text("a.txt") == "a")
            }
        }
    }

    // MARK: Who may, and what is no request

    /// A request that would change something, for each that does.
    private static let changes = [
        ("create", "{'path':'new'}"), ("rename", "{'path':'a.txt','name':'x'}"),
        ("move", "{'from':['a.txt'],'to':'b'}"), ("copy", "{'from':['a.txt'],'to':'b'}"),
        ("delete", "{'paths':['a.txt']}"), ("restore", "{'ids':[]}"), ("empty", ""),
    ]

    @Test("Who may only read changes nothing, and isn't told what is there")
    func readers() async throws {
        try await UploaderFixture.run(Self.files, folder: UploaderFixture.roles) { uploader async throws in
            for (name, body) in Self.changes {
                #expect(try await uploader.with("reader").code(name, body) == 403, "\(name)")
                #expect(try await uploader.with("nobody").code(name, body) == 403, "\(name)")
            }
            #expect(try await uploader.with("reader").code("create", "{'path':'b'}") == 403)
            #expect(try uploader.names == [".hidden", "a.txt", "b", "f"])
            #expect(try await uploader.with("writer").code("create", "{'path':'new'}") == 200)
        }
    }

    @Test("A page of another site changes nothing, and one of this site does")
    func otherSites() async throws {
        try await UploaderFixture.run(Self.files) { uploader async throws in
            let site = try #require(HTTPField.Name("Sec-Fetch-Site"))
            for (name, body) in Self.changes {
                for headers: HTTPFields in [
                    [site: "cross-site"], [site: "same-site"], [.origin: "https://other.example"], [.origin: "null"],
                ] {
                    #expect(try await uploader.code(name, body, headers) == 403, "\(name) \(headers)")
                }
            }
            #expect(try uploader.names == [".hidden", "a.txt", "b", "f"])
            #expect(try await uploader.code("create", "{'path':'new'}", [site: "same-origin"]) == 200)
        }
    }

    @Test("A path that can't be one changes nothing", arguments: badPaths)
    func badNames(path: String) async throws {
        try await UploaderFixture.run(Self.files) { uploader async throws in
            for (name, body) in [
                ("create", "{'path':'\(path)'}"), ("rename", "{'path':'\(path)','name':'x'}"),
                ("move", "{'from':['\(path)'],'to':'b'}"), ("move", "{'from':['a.txt'],'to':'\(path)'}"),
                ("copy", "{'from':['\(path)'],'to':'b'}"), ("copy", "{'from':['a.txt'],'to':'\(path)'}"),
                ("delete", "{'paths':['\(path)']}"),
            ] {
                #expect(try await uploader.code(name, body) == 403, "\(name)")
            }
            #expect(try uploader.names == [".hidden", "a.txt", "b", "f"])
        }
    }

    @Test("What isn't JSON, or other JSON, or too much of it, is refused")
    func malformed() async throws {
        var options = UploaderOptions()
        options.requestSize = .kibibytes(1)
        try await UploaderFixture.run(Self.files, showing: options) { uploader async throws in
            for body in ["", "{", "[]", "{'path':1}", "{'paths':['a.txt'", "null"] {
                #expect(try await uploader.code("create", body) == 400, "\(body)")
            }
            let form = try await uploader.request(.post, "create", [.contentType: "text/plain"], "{\"path\":\"x\"}")
            #expect(form.status == .unsupportedMediaType)
            let long = String(repeating: "x", count: 2_000)
            #expect(try await uploader.code("create", "{'path':'\(long)'}") == 413)
            #expect(try await uploader.request(.get, "create").status == .methodNotAllowed)
            #expect(try await uploader.code("list", "{}") == 405)
        }
    }

    @Test("The app may refuse what is done, and allows only some names")
    func hooks() async throws {
        var options = FolderOptions()
        options.allowedExtensions = ["txt"]
        options.before = { operation in
            if operation.kind == .delete { throw Problem(.unavailableForLegalReasons, "Nothing goes.") }
        }
        try await UploaderFixture.run(Self.files, folder: options) { uploader async throws in
            #expect(try await uploader.code("delete", "{'paths':['a.txt']}") == 451)
            #expect(try await uploader.code("rename", "{'path':'a.txt','name':'a.exe'}") == 415)
            #expect(try await uploader.code("rename", "{'path':'a.txt','name':'b.txt'}") == 200)
        }
    }
}
