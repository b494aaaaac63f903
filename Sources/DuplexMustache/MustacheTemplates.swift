// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

public import DuplexServer
public import DuplexWire
public import HTTPTypes
import Mustache
import Synchronization

/// The Mustache templates of a folder, compiled once, which make pages of values.
///
/// ```swift
/// let templates = try MustacheTemplates(folder: "templates")
/// server.get("/users/:id") { request in
///     try templates.page("user", ["name": try name(request)])
/// }
/// ```
///
/// `user` is the file `user.mustache`; `mail/welcome` is one of a folder in the folder. Values are dictionaries,
/// arrays, structures and texts. `{{name}}` is escaped for HTML, `{{{name}}}` isn't, and `{{> header}}` is another
/// template; see <https://mustache.github.io>.
///
/// Hazard: what isn't escaped must not be a stranger's. Escaped text is safe between tags and within quoted attributes,
/// and nowhere else: in a script, a style or the beginning of a URL it may do anything.
public final class MustacheTemplates: Sendable {
    private let folder: TemplateFolder
    /// Whether the files are looked at before each page.
    private let reloads: Bool
    private let loaded: Mutex<TemplateFolder.Contents>

    /// Reads and compiles the templates of a folder; blocks as long as the disk takes.
    ///
    /// - Parameters:
    ///   - path: the folder.
    ///   - suffix: what the names of templates end with. Default: `mustache`.
    ///   - reloads: whether files that have changed are read again with the next page, which blocks the loop: for a
    ///     developer's machine. Default: false.
    /// - Throws: ``TemplateError`` when the folder can't be read, or a template is malformed.
    public init(folder path: String, suffix: String = "mustache", reloads: Bool = false) throws {
        let folder = TemplateFolder(path: path, suffix: suffix)
        self.folder = folder
        self.reloads = reloads
        loaded = Mutex(try folder.contents())
    }

    /// The names of the templates, in order.
    package var names: [String] { loaded.withLock { $0.stamps.keys.sorted() } }

    /// The text that a template makes of values.
    ///
    /// - Parameters:
    ///   - template: its name.
    ///   - values: what it names.
    /// - Returns: the text.
    /// - Throws: ``TemplateError`` with `missing` when there is no such template; where files are read again, as
    ///   ``init(folder:suffix:reloads:)``.
    public func text(_ template: String, _ values: Any) throws -> String {
        let library = try library()
        guard let text = library.render(values, withTemplate: template) else {
            throw TemplateError(
                code: .missing,
                template: template,
                message: "There is no such template in \(folder.path)."
            )
        }
        return text
    }

    /// The page that a template makes of values.
    ///
    /// - Parameters:
    ///   - template: its name.
    ///   - values: what it names.
    ///   - status: the status. Default: 200.
    ///   - type: the media type. Default: HTML in UTF-8.
    /// - Returns: the response.
    /// - Throws: as ``text(_:_:)``; thrown on by a handler, it is logged and answered with 500.
    public func page(
        _ template: String,
        _ values: Any,
        status: HTTPResponse.Status = .ok,
        type: MediaType = .html
    ) throws -> Response {
        Response(status, type: type, body: .text(try text(template, values)))
    }

    private func library() throws -> MustacheLibrary {
        try loaded.withLock { contents in
            if reloads, try folder.stamps() != contents.stamps { contents = try folder.contents() }
            return contents.library
        }
    }
}
