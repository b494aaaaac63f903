// SPDX-License-Identifier: Apache-2.0
// Draws all views in one call: four corners for each, with what is its own in a buffer. Not as instances of one
// rectangle: renderers that are programs take each of those for a call of its own, and are half as fast or worse.
//
// They are opaque and come from the front to the back, so that what is covered costs nothing, which matters where a
// processor draws. Pictures lie in one texture.

import { colour } from "./views-scene.js";

export const atlasSize = 2048;
const floats = 16;

const vertex = `#version 300 es
layout(location = 0) in vec4 rect;
layout(location = 1) in vec4 place;
layout(location = 2) in vec4 part;
layout(location = 3) in vec4 tint;
uniform mat3 turned;
uniform vec2 centre;
uniform vec2 origin;
uniform vec2 stage;
uniform vec4 lens;
uniform vec3 depths;
uniform vec2 marks;
out vec2 at;
out vec2 texel;
flat out vec4 ink;
flat out vec3 kind;
void main() {
    vec2 corner = vec2(gl_VertexID & 1, (gl_VertexID >> 1) & 1);
    vec3 point = vec3(mix(rect.xy, rect.zw, corner) - centre, place.x * lens.z);
    vec3 turn = turned * point;
    float w = 1.0 - lens.y * turn.z;
    vec2 spot = origin * w + turn.xy * lens.x;
    vec2 clip = vec2(2.0 * spot.x / stage.x - w, w - 2.0 * spot.y / stage.y);
    float z = lens.w > 0.5 ? 0.99 - 1.98 * place.y : depths.x * w + depths.y;
    gl_Position = vec4(clip, z, w);
    at = corner;
    texel = mix(part.xy, part.zw, corner);
    ink = tint;
    float mark = place.w == marks.x ? 2.0 : place.w == marks.y ? 1.0 : 0.0;
    kind = vec3(mark, place.z, part.z > part.x ? 1.0 : 0.0);
}`;

const fragment = `#version 300 es
precision mediump float;
in highp vec2 at;
in highp vec2 texel;
flat in vec4 ink;
flat in vec3 kind;
uniform sampler2D atlas;
uniform vec3 paper;
uniform vec3 accent;
uniform vec3 line;
uniform float thick;
out vec4 result;
void main() {
    vec3 colour = ink.rgb;
    if (kind.z > 0.5) {
        vec4 found = texture(atlas, texel);
        colour = mix(mix(paper, colour, 0.25), found.rgb, found.a);
    }
    if (kind.y > 0.5 && mod(gl_FragCoord.x + gl_FragCoord.y, 8.0) < 4.0) colour = mix(colour, paper, 0.75);
    colour = mix(paper, colour, ink.a);
    if (kind.x > 0.5) colour = mix(colour, accent, 0.28);
    highp vec2 near = min(at, 1.0 - at) / max(fwidth(at), vec2(1e-6));
    float width = kind.x > 0.5 ? 3.0 * thick : thick;
    if (min(near.x, near.y) < width) colour = kind.x > 0.5 ? accent : mix(colour, line, 0.6);
    result = vec4(colour, 1.0);
}`;

function program(gl) {
    const made = gl.createProgram();
    for (const [type, source] of [
        [gl.VERTEX_SHADER, vertex],
        [gl.FRAGMENT_SHADER, fragment],
    ]) {
        const shader = gl.createShader(type);
        gl.shaderSource(shader, source);
        gl.compileShader(shader);
        gl.attachShader(made, shader);
    }
    gl.linkProgram(made);
    if (!gl.getProgramParameter(made, gl.LINK_STATUS)) throw new Error(gl.getProgramInfoLog(made) ?? "no program");
    return made;
}

/** What draws here: the name that the browser gives. */
function rendererName(gl) {
    const names = gl.getExtension("WEBGL_debug_renderer_info");
    return names ? gl.getParameter(names.UNMASKED_RENDERER_WEBGL) : gl.getParameter(gl.RENDERER);
}

export class Drawing {
    /** Draws on a canvas; `null` where the browser has no WebGL 2. */
    static make(canvas) {
        try {
            const probe = document.createElement("canvas").getContext("webgl2");
            if (!probe) return null;
            const name = rendererName(probe);
            probe.getExtension("WEBGL_lose_context")?.loseContext();
            const isSlow = /swiftshader|llvmpipe|software/i.test(name);
            const gl = canvas.getContext("webgl2", { antialias: !isSlow, alpha: false });
            return gl ? new Drawing(canvas, gl, name, isSlow) : null;
        } catch {
            return null;
        }
    }

    constructor(canvas, gl, name, isSlow) {
        this.canvas = canvas;
        this.gl = gl;
        this.name = name;
        this.kind = "WebGL";
        // How finely it is drawn while it moves, and once it is still: without smoothing, at twice the size.
        this.quality = 1;
        this.fine = isSlow ? 2 : 1;
        this.program = program(gl);
        this.uniforms = {};
        for (const one of [
            "turned",
            "centre",
            "origin",
            "stage",
            "lens",
            "depths",
            "marks",
            "paper",
            "accent",
            "line",
            "thick",
        ]) {
            this.uniforms[one] = gl.getUniformLocation(this.program, one);
        }
        this.buffer = gl.createBuffer();
        this.array = gl.createVertexArray();
        gl.bindVertexArray(this.array);
        gl.bindBuffer(gl.ARRAY_BUFFER, this.buffer);
        for (const place of [0, 1, 2, 3]) {
            gl.enableVertexAttribArray(place);
            gl.vertexAttribPointer(place, 4, gl.FLOAT, false, floats * 4, place * 16);
        }
        this.corners = gl.createBuffer();
        gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, this.corners);
        this.room = 0;
        this.texture = gl.createTexture();
        gl.bindTexture(gl.TEXTURE_2D, this.texture);
        gl.texStorage2D(gl.TEXTURE_2D, 1, gl.RGBA8, atlasSize, atlasSize);
        gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MIN_FILTER, gl.LINEAR);
        gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_WRAP_S, gl.CLAMP_TO_EDGE);
        gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_WRAP_T, gl.CLAMP_TO_EDGE);
        gl.enable(gl.DEPTH_TEST);
        gl.depthFunc(gl.LESS);
        this.count = 0;
    }

    /** Takes what is to be drawn from now on; `pictures.part(node)` is where a picture lies in the texture. */
    set(items, scene, pictures, isDark) {
        const data = new Float32Array(items.length * 4 * floats);
        const colours = new Map();
        items.forEach(({ node, rect, layer, order }, index) => {
            if (!colours.has(node.type)) colours.set(node.type, colour(node.type, isDark));
            const part = pictures?.part(node, rect) ?? [0, 0, 0, 0];
            const start = index * 4 * floats;
            data.set(rect, start);
            data.set([layer, order / scene.count, node.isOff ? 1 : 0, node.index], start + 4);
            data.set(part, start + 8);
            data.set([...colours.get(node.type), Math.max(0.15, node.opacity)], start + 12);
            for (const corner of [1, 2, 3]) data.copyWithin(start + corner * floats, start, start + floats);
        });
        const { gl } = this;
        gl.bindVertexArray(this.array);
        gl.bindBuffer(gl.ARRAY_BUFFER, this.buffer);
        gl.bufferData(gl.ARRAY_BUFFER, data, gl.DYNAMIC_DRAW);
        this.count = items.length;
        if (this.count > this.room) this.makeRoom(this.count);
    }

    /** Which corners the two triangles of each rectangle have. */
    makeRoom(count) {
        this.room = count;
        const corners = new Uint32Array(count * 6);
        for (let index = 0; index < count; index += 1) {
            corners.set(
                [0, 1, 2, 2, 1, 3].map((corner) => index * 4 + corner),
                index * 6,
            );
        }
        this.gl.bufferData(this.gl.ELEMENT_ARRAY_BUFFER, corners, this.gl.STATIC_DRAW);
    }

    /** Puts a picture into the texture. */
    place(bitmap, x, y) {
        const { gl } = this;
        gl.bindTexture(gl.TEXTURE_2D, this.texture);
        gl.texSubImage2D(gl.TEXTURE_2D, 0, x, y, gl.RGBA, gl.UNSIGNED_BYTE, bitmap);
    }

    draw(view, marks, colours, isMoving) {
        const { gl, canvas, uniforms } = this;
        const ratio = Math.min(2, devicePixelRatio * (isMoving ? this.quality : this.fine));
        const [width, height] = [
            Math.max(1, Math.round(view.width * ratio)),
            Math.max(1, Math.round(view.height * ratio)),
        ];
        if (canvas.width !== width || canvas.height !== height) [canvas.width, canvas.height] = [width, height];
        gl.viewport(0, 0, width, height);
        gl.clearColor(...colours.paper, 1);
        gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
        if (this.count === 0) return;
        gl.useProgram(this.program);
        const [a1, b1, c1, a2, b2, c2, a3, b3, c3] = view.rows;
        gl.uniformMatrix3fv(uniforms.turned, false, [a1, a2, a3, b1, b2, b3, c1, c2, c3]);
        gl.uniform2f(uniforms.centre, ...view.centre);
        gl.uniform2f(uniforms.origin, ...view.origin);
        gl.uniform2f(uniforms.stage, view.width, view.height);
        gl.uniform4f(uniforms.lens, view.scale, view.k, view.gap, view.isFlat ? 1 : 0);
        // The depth that is kept is A + B / w, which is even over a plane; it goes from -1 to 1 over all of the scene.
        const [least, most] = [1 - view.k * view.radius, 1 + view.k * view.radius];
        const b = view.isFlat ? 0 : -2 / (1 / least - 1 / most);
        gl.uniform3f(uniforms.depths, 1 - b / most, b, 0);
        gl.uniform2f(uniforms.marks, marks.selected ?? -1, marks.hovered ?? -1);
        gl.uniform3f(uniforms.paper, ...colours.paper);
        gl.uniform3f(uniforms.accent, ...colours.accent);
        gl.uniform3f(uniforms.line, ...colours.line);
        gl.uniform1f(uniforms.thick, Math.max(1, ratio));
        gl.bindVertexArray(this.array);
        gl.drawElements(gl.TRIANGLES, this.count * 6, gl.UNSIGNED_INT, 0);
    }

    close() {
        this.gl.getExtension("WEBGL_lose_context")?.loseContext();
    }
}
