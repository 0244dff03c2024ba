-- SPDX-License-Identifier: MIT
--
-- docs/book/pages.lua - reads pages (GitHub's Markdown) for pandoc, as one document.
--
-- The title of a page gets the page's path as its id; each other heading has that path in
-- front of its id. So a link to a page, or to a heading of a page, becomes a link within
-- the book. A link to a file that is no page of the book becomes plain text; one that stands
-- alone below the title, to the same page in another language, is left out. A heading of one
-- letter (the glossary's) is not in the contents.

-- place(PAGE, PATH): the path that PAGE calls PATH, from the top of the checkout.
local function place(page, path)
	local parts = {}
	for part in ((page:match('.*/') or '') .. path):gmatch('[^/]+') do
		if part == '..' then
			table.remove(parts)
		elseif part ~= '.' then
			table.insert(parts, part)
		end
	end
	return table.concat(parts, '/')
end

-- embedded(PATH): that picture as a URI. (pandoc embeds pictures too, but since 3.1 it puts
-- a drawing into the page itself, where the styles of all drawings meet.)
local function embedded(path)
	if not path:match('%.svg$') then
		return path
	end
	local file = assert(io.open(path))
	local drawing = file:read('a')
	file:close()
	return 'data:image/svg+xml,' .. drawing:gsub('[^%w]', function(c)
		return ('%%%02X'):format(c:byte())
	end)
end

-- english(PATH): the page that a page in another language is of.
local function english(path)
	return (path:gsub('^docs/zh/', 'docs/'):gsub('%.zh%.md$', '.md'))
end

-- marked(BLOCKS): the same, where each heading has the id that the line below it gives it. (A
-- Chinese one has the anchor of the English one; see tests/zh.)
local function marked(blocks)
	for i = #blocks - 1, 1, -1 do
		local first = blocks[i].t == 'Header' and blocks[i + 1].t == 'Para' and blocks[i + 1].content[1]
		local id = first and first.t == 'RawInline' and first.text:match('^<a id="(.*)">$')
		if id then -- behind it: </a>, a comment, the end of the line
			blocks[i].identifier = id
			blocks[i + 1].content = pandoc.List({ table.unpack(blocks[i + 1].content, 5) })
			if #blocks[i + 1].content == 0 then
				blocks:remove(i + 1)
			end
		end
	end
	return blocks
end

-- fitted(CELL): the same, of class short if its text shall not be folded; and with each of the
-- pieces of code that it lists on its own line.
local function fitted(cell)
	local text = pandoc.utils.stringify(cell.contents)
	if utf8.len(text) <= 8 or #text <= 16 and text:match('^[%w_.]+$') then
		cell.attr.classes = { 'short' }
	end
	cell.contents = pandoc.walk_block(pandoc.Div(cell.contents), {
		Code = function(code)
			if code.text:match(('%S'):rep(25)) then
				code.classes:insert('wide')
			end
			return code
		end,
		Inlines = function(inlines)
			for i = 2, #inlines - 1 do
				if inlines[i].t == 'Space' and inlines[i - 1].t == 'Code' and inlines[i + 1].t == 'Code' then
					inlines[i] = pandoc.LineBreak()
				end
			end
			return inlines
		end,
	}).content
	return cell
end

function Reader(sources)
	local blocks, pages = pandoc.List(), {}
	for _, source in ipairs(sources) do
		pages[source.name] = true
	end
	for _, source in ipairs(sources) do
		local page = source.name
		local to_book = {
			Header = function(h)
				h.identifier = h.level == 1 and page or page .. '/' .. h.identifier
				if pandoc.utils.stringify(h):match('^%a$') then
					h.classes = { 'unnumbered', 'unlisted' }
				end
				return h
			end,
			-- What is longer than a page has to begin below its heading.
			CodeBlock = function(code)
				if select(2, code.text:gsub('\n', '')) > 70 then
					code.classes:insert('long')
				end
				return code
			end,
			Table = function(t)
				for _, body in ipairs(t.bodies) do
					for _, row in ipairs(body.body) do
						row.cells = pandoc.List(row.cells):map(fitted)
					end
				end
				return t
			end,
			Image = function(image)
				image.src = embedded(place(page, image.src))
				return image
			end,
			Link = function(link)
				local path, anchor = link.target:match('^([^#]*)#?(.*)$')
				if path:match('^%a+:') then
					return link
				end
				path = path == '' and page or place(page, path)
				if not pages[path] then
					return link.content
				end
				link.target = '#' .. path .. (anchor == '' and '' or '/' .. anchor)
				return link
			end,
		}
		-- A page in HTML has one title and no links.
		local title, body = source.text:match('<h1>(.-)</h1>(.*)</body>')
		if page:match('%.html$') then
			blocks:insert(pandoc.Header(1, title, { id = page }))
			blocks:insert(pandoc.RawBlock('html', body))
		else
			-- What finds bare URIs (there are none) takes a link's and what comes after it.
			local read = marked(pandoc.read(source.text, 'gfm-autolink_bare_uris').blocks)
			local link = #read > 1 and read[2].t == 'Para' and #read[2].content == 1 and read[2].content[1]
			if link and link.t == 'Link' and english(place(page, link.target)) == english(page) then
				read:remove(2)
			end
			blocks:extend(pandoc.walk_block(pandoc.Div(read), to_book).content)
		end
	end
	return pandoc.Pandoc(blocks)
end
