// Owns how common words are written in Chinese, Japanese and Korean: a question and a description need not share a language.

export const translations = `
get 获取 查询 取得 得到
search 搜索 查找 检索 查询 検索 검색
find 查找 寻找 搜索 查询
news 新闻 资讯 快讯 消息 动态 头条 ニュース 뉴스
trend 热榜 热门 趋势 热搜 流行 トレンド 트렌드
trending 热榜 热门 热搜 流行
rank 排行 排名 榜单 ランキング 순위
list 列表 清单 一覧 목록
weather 天气 气象 天気 날씨
forecast 预报 预测 予報 예보
temperature 温度 气温 기온
calendar 日历 黄历 农历 カレンダー 달력
almanac 黄历 农历 日历
lunar 农历 阴历
date 日期 时间 日付 날짜
time 时间 時間 시간
image 图片 图像 照片 画像 이미지
picture 图片 图像 照片
photo 照片 相片 写真 사진
video 视频 影片 動画 동영상 비디오
music 音乐 歌曲 音楽 음악
song 歌曲 노래
movie 电影 影片 映画 영화
book 书籍 图书 读书 小说
novel 小说 소설
game 游戏 ゲーム 게임
sport 体育 运动 スポーツ 스포츠
football 足球 축구
stock 股票 证券 株式 주식
finance 金融 财经 投资 融资 금융
investment 投资 融资 투자
price 价格 行情 値段 가격
discount 优惠 折扣 特价 促销 割引 할인
cheap 优惠 折扣 便宜 特价
product 商品 产品 製品 제품 상품
shopping 购物 消费 优惠 쇼핑
buy 购买 购物 구매
order 订单 订购 注文 주문
payment 支付 付款 결제
ticket 车票 工单 门票 机票 チケット 티켓
train 火车 列车 高铁 车次 车票 列車 기차
station 车站 站点
flight 航班 机票 飞行 항공
hotel 酒店 宾馆 住宿 ホテル 호텔
restaurant 餐厅 饭店 食堂 レストラン 식당
recipe 菜谱 食谱 做法 レシピ 레시피
food 食物 美食 食品 음식
meal 膳食 菜单 食事 식사
travel 旅游 旅行 出行 여행
map 地图 地図 지도
location 位置 地点 地址 場所 위치
address 地址 住所 주소
place 地点 场所 장소
city 城市 都市 도시
country 国家 국가
route 路线 路径 导航 경로
distance 距离 거리
file 文件 档案 ファイル 파일
document 文档 文件 文書 문서
folder 文件夹 目录 フォルダ 폴더
read 读取 阅读 읽기
write 写入 编写 撰写 쓰기
create 创建 新建 生成 作成 생성
generate 生成 创建 생성
delete 删除 移除 削除 삭제
update 更新 修改 수정
edit 编辑 修改 編集 편집
add 添加 新增 追加 추가
send 发送 送信 전송
upload 上传 업로드
download 下载 다운로드
open 打开 열기
save 保存 저장
message 消息 信息 短信 メッセージ 메시지
email 邮件 邮箱 メール 이메일
chat 聊天 对话 채팅
user 用户 使用者 ユーザー 사용자
account 账户 账号 帳戶 계정
login 登录 登入 로그인
password 密码 비밀번호
translate 翻译 翻訳 번역
language 语言 語言 언어
word 单词 词语 단어
text 文本 文字 テキスト 텍스트
code 代码 编程 コード 코드
program 程序 编程
database 数据库 資料庫 데이터베이스
data 数据 資料 データ 데이터
table 表格 数据表
chart 图表 统计图 グラフ 차트
web 网页 网络 网站 ウェブ
page 网页 页面 ページ 페이지
website 网站 网页 사이트
link 链接 网址 링크
content 内容 コンテンツ 내용
summary 摘要 总结 概要 要約 요약
information 信息 资讯 情報 정보
detail 详情 详细 明细
result 结果 結果 결과
keyword 关键词 关键字 키워드
calculate 计算 計算 계산
number 数字 数量 号码 숫자
convert 转换 换算 変換 변환
currency 货币 汇率 通貨 환율
exchange 汇率 兑换 换算
technology 科技 技术 技術 기술
science 科学 科技 과학
education 教育 学习 교육
learn 学习 학습
health 健康 医疗 건강
medicine 药品 医药 의약
doctor 医生 의사
company 公司 企业 会社 회사
business 商业 企业 创业
startup 创业 初创
market 市场 市場 시장
report 报告 报表 報告 보고서
card 卡片 卡牌 カード 카드
electronics 数码 电子 设备
device 设备 数码 기기
phone 手机 电话 전화
comment 评论 评测 댓글
review 评测 评价 评论 리뷰
recommend 推荐 推薦 추천
popular 热门 流行 인기
hot 热门 热榜
today 今天 今日 오늘
tomorrow 明天 明日 내일
name 名称 名字 姓名 이름
birth 出生 生辰 八字
gender 性别 성별
fortune 运势 算命 八字 운세
screenshot 截图 截屏
play 播放 재생
social 社交 社区 社会
topic 话题 主题
question 问题 问答 提问 질문
answer 答案 回答 问答
event 事件 活动 이벤트
schedule 日程 安排 计划 일정
meeting 会议 会議 회의
task 任务 タスク 작업
project 项目 プロジェクト 프로젝트
reminder 提醒 알림
history 历史 歴史 역사
car 汽车 车辆 자동차
house 房屋 房子 房价 주택
job 工作 职位 招聘 채용
school 学校 학교
law 法律 法规 법률
government 政府 政务 정부
animal 动物 동물
nature 自然 자연
entertainment 娱乐 娯楽 연예
article 文章 文献 記事 기사
paper 论文 文献 논문
author 作者 作家 저자
title 标题 题目 제목
category 分类 类别 카테고리
status 状态 상태
log 日志 로그
error 错误 异常 오류
server 服务器 서버
api 接口
tool 工具 도구
`;
