// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexWire
import Foundation
import HTTPTypes
import Testing

@testable import DuplexSharing

@Suite("The files of the web pages")
struct PageFileTests {
    private static let pages = ["demo", "inspector", "uploader"]
    private static let folders = pages + ["shared"]

    /// Each file of each folder.
    private static let files = folders.flatMap { folder in PageFile.files(in: folder).map { (folder, $0) } }

    /// The names that a page and its files refer to.
    private static func references(of page: String) -> Set<String> {
        let text = PageFile.all(in: page).map(\.text).joined()
        let markup = text.matches(of: /(?:src|href)="(?:assets|\/demo)\/([^"]+)"/).map { String($0.1) }
        let imports = text.matches(of: /(?:from |import |import\()"\.\/([a-z-]+\.js)"/).map { String($0.1) }
        return Set(markup + imports)
    }

    @Test("There are the shared files, and those of each page")
    func folders() {
        for folder in Self.folders { #expect(PageFile.files(in: folder).count > 3, "\(folder)") }
        #expect(Self.files.allSatisfy { !$0.1.bytes.isEmpty })
        #expect(PageFile.all(in: "none") == PageFile.files(in: "shared"))
    }

    @Test("A page has no two files of the same name", arguments: pages)
    func names(page: String) {
        let names = PageFile.all(in: page).map(\.name)
        #expect(names.contains("index.html") && Set(names).count == names.count)
    }

    @Test("Every file that a page refers to is there, and it refers to each of its own", arguments: pages)
    func references(page: String) {
        let references = Self.references(of: page)
        #expect(references.subtracting(PageFile.all(in: page).map(\.name)) == [])
        let own = PageFile.files(in: page).map(\.name)
        #expect(Set(own).subtracting(references) == ["index.html"])
    }

    @Test("The elements that scripts look for are in the markup, or made by a script", arguments: pages)
    func identifiers(page: String) {
        let text = PageFile.all(in: page).map(\.text).joined(separator: "\n")
        let names = text.matches(of: /byId\("([a-z-]+)"\)/).map { String($0.1) }
        #expect(names.count > 5)
        for name in Set(names) {
            #expect(text.contains("id=\"\(name)\"") || text.contains("id: \"\(name)\""), "\(name)")
        }
    }

    @Test("Each file is whole: a byte of zero would end it")
    func whole() throws {
        var root = #filePath[...]
        for _ in 0..<4 { root = root[..<(root.lastIndex(of: "/") ?? root.startIndex)] }
        for (folder, file) in Self.files {
            let path = "\(root)/Sources/CDuplexPages/web/\(folder)/\(file.name)"
            #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == Data(file.bytes), "\(folder)/\(file.name)")
        }
    }

    @Test(
        "The media type follows from the name",
        arguments: [("a.html", MediaType.html), ("a.css", .css), ("a.js", .javaScript), ("a.svg", .svg)]
    )
    func types(name: String, type: MediaType) {
        #expect(PageFile(named: name, []).contentType == type)
    }

    @Test("A file goes out with its bytes, and with a tag that another version doesn't have")
    func response() throws {
        let file = PageFile(named: "a.css", [1, 2])
        #expect(file.response.body.bytes == [1, 2])
        #expect(file.response.headers[.contentType] == MediaType.css.rawValue)
        #expect(file.response.headers[.cacheControl] == "no-cache")
        #expect(file.response.headers[.xContentTypeOptions] == "nosniff")
        #expect(try file.response.headers[.eTag] == #require(file.entityTag).description)
        #expect(file.entityTag != PageFile(named: "a.css", [2, 1]).entityTag)
    }

    @Test("A value is escaped, and isn't searched for places; a place without a value stays empty")
    func values() {
        let file = PageFile(named: "a.html", Array("<p>{{one}}, {{two}}{{three}} {two} {{ two }}</p>".utf8))
        let filled = file.filled(with: ["one": "<b>\"&", "two": "{{one}}", "four": "4"])
        #expect(filled.text == "<p>&lt;b&gt;&quot;&amp;, {{one}} {two} {{ two }}</p>")
        #expect(filled.entityTag != file.entityTag)
    }

    // MARK: What the policies forbid

    @Test("Pages have no style, handler or script of their own, but for one module", arguments: pages)
    func inline(page: String) throws {
        let html = try #require(PageFile.all(in: page).first { $0.name == "index.html" }).text
        #expect(html.firstMatch(of: /<style|\sstyle=|\son[a-z]+\s*=|javascript:/) == nil)
        #expect(html.matches(of: /<script/).count == 1 && html.contains("<script type=\"module\" src="))
    }

    @Test("Nothing refers to another origin")
    func sameOrigin() {
        for (folder, file) in Self.files {
            let text = file.text.replacing("http://www.w3.org/2000/svg", with: "")
            let address = text.firstMatch(of: /(?:https?|wss?|ftp):\/\/[a-z]|["'(]\/\/|@import|url\([^)]/)
            #expect(address == nil, "\(folder)/\(file.name)")
            #expect(text.firstMatch(of: /\bimport\((?!"\.\/)/) == nil, "\(folder)/\(file.name)")
        }
    }

    @Test(
        "No text can become markup or code",
        arguments: [
            "innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "setHTML", "parseFromString", "srcdoc",
            "createContextualFragment", "eval(", "Function(", "javascript:", "setTimeout(\"",
        ]
    )
    func noMarkup(name: String) {
        for (folder, file) in Self.files { #expect(!file.text.contains(name), "\(folder)/\(file.name)") }
    }
}
